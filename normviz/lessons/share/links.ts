// What a view is as text: its address, an iframe, Markdown, a notebook cell. All functions are pure.

export type SharedView = { page: string; query: [string, string][]; title: string };
type Choices = { hide?: string; caption?: string; theme?: string };
/** [width, height] pairs, in px */
export type Heights = [number, number][];

type WriteUrl = (app: string, view: SharedView, choices: Choices) => string;

const HOME = "home"; // the page at the address of the app

/**
 * Makes a frame as high as its content: for the page that has the frame, which receives { normvizHeight } in px from the embedded page.
 * "<" is escaped, because files contain this module in a script.
 */
const GROWING =
  "\x3Cscript>addEventListener(\"message\", ({ source, data }) => document.querySelectorAll(\"iframe\").forEach((frame) => " +
  "{ if (frame.contentWindow === source && data?.normvizHeight > 0) frame.style.height = data.normvizHeight + \"px\"; }));\x3C/script>";

/** Percent-encodes as normviz.scene.view.link does: readable, and nothing in it ends an address. */
const encodeReadably = (text: string) =>
  encodeURIComponent(text)
    .replace(/[!*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%(2C|5B|5D|3D|3A|3E|3B)/g, decodeURIComponent);

export const queryOf = (pairs: [string, string][]) => (pairs.length ? `?${pairs.map(([name, value]) => `${name}=${encodeReadably(value)}`).join("&")}` : "");

/** The path of the app: /lab/ for the page /lab/compare. */
export function rootOf(path: string, page: string) {
  const bare = page === HOME ? path : path.replace(/\/+$/, "").slice(0, -page.length);
  return bare.endsWith("/") ? bare : `${bare}/`;
}

/** The address of the app. */
export const appAddress = (page: string) => location.origin + rootOf(location.pathname, page);

export const pathOf = (page: string) => (page === HOME ? "" : page);

/** What is hidden, and the caption. */
const framePairs = ({ hide, caption }: Choices): [string, string][] => Object.entries({ ...(hide && { hide }), ...(caption && { caption }) });

export const viewUrl: WriteUrl = (app, view, choices) => app + pathOf(view.page) + queryOf([...view.query, ...framePairs(choices)]);

export const embedUrl: WriteUrl = (app, view, choices) => {
  const theme: [string, string][] = choices.theme ? [["embed_options", `${choices.theme}_theme`]] : [];
  return app + pathOf(view.page) + queryOf([...view.query, ...framePairs(choices), ["embed", "true"], ...theme]);
};

export const exportUrl: WriteUrl = (app, view, choices) => `${app}export${queryOf([["page", view.page], ...view.query, ...framePairs(choices)])}`;

const escapeAttribute = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/**
 * A frame of a fixed width, or as wide as its column; then its height follows the column's width. A page that drops the style
 * uses the largest height, at which nothing scrolls either.
 * @param grows whether a script keeps the frame as high as its content, on a page that allows scripts
 */
export function iframe(url: string, title: string, width: string | null, heights: Heights, grows = false) {
  const script = grows ? `\n${GROWING}` : "", breakpoints = width ? [] : breakpointsOf(heights), tallest = Math.max(...heights.map(([, height]) => height));
  const frame = (style: string) =>
    `<iframe src="${escapeAttribute(url)}" title="${escapeAttribute(title)}" width="${width ?? "100%"}" height="${tallest}" loading="lazy" allow="clipboard-write" style="border: 0${style}"></iframe>`;
  if (breakpoints.length < 2) return frame("") + script;
  const [lowest, ...higher] = [...breakpoints].reverse();
  const height = higher.map(([below, high]) => `min(${high}px, (${below}px - 100cqw) * 9999)`);
  return `<div style="container-type: inline-size">${frame(`; height: max(${lowest[1]}px, ${height.join(", ")})`)}</div>${script}`;
}

/** The fewest heights that suffice at every width: each with the width below which it is used, the last for all larger widths. */
export function breakpointsOf(heights: Heights) {
  const breakpoints: Heights = [];
  let first = 0; // the height at an interval's largest width; the interval's own is at most a tenth higher
  for (const [i, [, height]] of [...heights.entries()].reverse()) {
    const below = heights[i + 1]?.[0] ?? Infinity;
    if (height > 1.1 * first) breakpoints.unshift([below, (first = height)]);
    else breakpoints[0][1] = Math.max(breakpoints[0][1], height);
  }
  return breakpoints;
}

/** In Markdown, brackets and quotes would end an address or start an emphasis. */
export function markdown(url: string, title: string) {
  const safe = url.replace(/[()[\]<>'*_]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  return `[${title.replace(/[!-/:-@[-`{-~]/g, "\\$&").replace(/\\([ ,.:;?()=-])/g, "$1")}](${safe})`;
}

/** ``hint``: how the same is called on the reader's own x */
export function notebook(view: SharedView, choices: Choices, hint: string) {
  const link = `/${pathOf(view.page)}${queryOf([...view.query, ...framePairs(choices)])}`;
  return `import normviz as nv\n\nnv.open(${JSON.stringify(link)})${hint ? `\n# With your own x: ${hint}` : ""}`;
}

/** The shortest ``hide=`` for the hidden parts. */
export function hideText(groups: Group[], hidden: Set<string>) {
  const all = groups.flatMap(({ names }) => names), controls = groups[0].names;
  const without = (skip: (one: PartName) => boolean) => all.filter((one) => hidden.has(one.name) && !skip(one)).map(({ name }) => name);
  if (!hidden.size) return "";
  if (all.filter(({ figure }) => !figure).every(({ name }) => hidden.has(name))) return ["all", ...without(({ figure }) => !figure)].join();
  if (controls.length > 1 && controls.every(({ name }) => hidden.has(name))) return ["controls", ...without((one) => controls.includes(one))].join();
  return without(() => false).join();
}
