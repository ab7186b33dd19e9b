// What a view is as text: its address, an iframe, Markdown, a notebook cell. All functions are pure.

/** @typedef {{ page: string, query: [string, string][], title: string }} SharedView */
/** @typedef {{ hide?: string, caption?: string, theme?: string }} Choices */
/** @typedef {{ name: string, label: string, figure: boolean }} PartName ``figure``: it stays where the figure stands alone */
/** @typedef {{ title: string, names: PartName[] }} Group */
/** @typedef {[number, number][]} Heights [width, height] pairs, in px */

/** @typedef {(app: string, view: SharedView, choices: Choices) => string} WriteUrl */

const HOME = "home"; // the page at the address of the app

/**
 * Makes a frame as high as its content: for the page that has the frame, which receives { normvizHeight } in px from the embedded page.
 * "<" is escaped, because files contain this module in a script.
 */
const GROWING =
  "\x3Cscript>addEventListener(\"message\", ({ source, data }) => document.querySelectorAll(\"iframe\").forEach((frame) => " +
  "{ if (frame.contentWindow === source && data?.normvizHeight > 0) frame.style.height = data.normvizHeight + \"px\"; }));\x3C/script>";

/**
 * Percent-encodes as normviz.scene.view.link does: readable, and nothing in it ends an address.
 * @param {string} text
 */
const encodeReadably = (text) =>
  encodeURIComponent(text)
    .replace(/[!*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%(2C|5B|5D|3D|3A|3E|3B)/g, decodeURIComponent);

/** @param {[string, string][]} pairs */
export const queryOf = (pairs) => (pairs.length ? `?${pairs.map(([name, value]) => `${name}=${encodeReadably(value)}`).join("&")}` : "");

/**
 * The path of the app: /lab/ for the page /lab/compare.
 * @param {string} path
 * @param {string} page
 */
export function rootOf(path, page) {
  const bare = page === HOME ? path : path.replace(/\/+$/, "").slice(0, -page.length);
  return bare.endsWith("/") ? bare : `${bare}/`;
}

/**
 * The address of the app.
 * @param {string} page that is shown
 */
export const appAddress = (page) => location.origin + rootOf(location.pathname, page);

/** @param {string} page */
export const pathOf = (page) => (page === HOME ? "" : page);

/**
 * What is hidden, and the caption.
 * @param {Choices} choices
 * @returns {[string, string][]}
 */
const framePairs = ({ hide, caption }) => Object.entries({ ...(hide && { hide }), ...(caption && { caption }) });

/** @type {WriteUrl} */
export const viewUrl = (app, view, choices) => app + pathOf(view.page) + queryOf([...view.query, ...framePairs(choices)]);

/** @type {WriteUrl} */
export const embedUrl = (app, view, choices) => {
  /** @type {[string, string][]} */
  const theme = choices.theme ? [["embed_options", `${choices.theme}_theme`]] : [];
  return app + pathOf(view.page) + queryOf([...view.query, ...framePairs(choices), ["embed", "true"], ...theme]);
};

/** @type {WriteUrl} */
export const exportUrl = (app, view, choices) => `${app}export${queryOf([["page", view.page], ...view.query, ...framePairs(choices)])}`;

/** @param {string} text */
const escapeAttribute = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/**
 * A frame of a fixed width, or as wide as its column; then its height follows the column's width. A page that drops the style
 * uses the largest height, at which nothing scrolls either.
 * @param {string} url
 * @param {string} title
 * @param {string | null} width
 * @param {Heights} heights
 * @param {boolean} [grows] whether a script keeps the frame as high as its content, on a page that allows scripts
 */
export function iframe(url, title, width, heights, grows = false) {
  const script = grows ? `\n${GROWING}` : "", breakpoints = width ? [] : breakpointsOf(heights), tallest = Math.max(...heights.map(([, height]) => height));
  /** @param {string} style */
  const frame = (style) =>
    `<iframe src="${escapeAttribute(url)}" title="${escapeAttribute(title)}" width="${width ?? "100%"}" height="${tallest}" loading="lazy" allow="clipboard-write" style="border: 0${style}"></iframe>`;
  if (breakpoints.length < 2) return frame("") + script;
  const [lowest, ...higher] = [...breakpoints].reverse();
  const height = higher.map(([below, high]) => `min(${high}px, (${below}px - 100cqw) * 9999)`);
  return `<div style="container-type: inline-size">${frame(`; height: max(${lowest[1]}px, ${height.join(", ")})`)}</div>${script}`;
}

/**
 * The fewest heights that suffice at every width: each with the width below which it is used, the last for all larger widths.
 * @param {Heights} heights
 */
export function breakpointsOf(heights) {
  /** @type {Heights} */
  const breakpoints = [];
  let first = 0; // the height at an interval's largest width; the interval's own is at most a tenth higher
  for (const [i, [, height]] of [...heights.entries()].reverse()) {
    const below = heights[i + 1]?.[0] ?? Infinity;
    if (height > 1.1 * first) breakpoints.unshift([below, (first = height)]);
    else breakpoints[0][1] = Math.max(breakpoints[0][1], height);
  }
  return breakpoints;
}

/**
 * In Markdown, brackets and quotes would end an address or start an emphasis.
 * @param {string} url
 * @param {string} title
 */
export function markdown(url, title) {
  const safe = url.replace(/[()[\]<>'*_]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  return `[${title.replace(/[!-/:-@[-`{-~]/g, "\\$&").replace(/\\([ ,.:;?()=-])/g, "$1")}](${safe})`;
}

/**
 * @param {SharedView} view
 * @param {Choices} choices
 * @param {string} hint how the same is called on the reader's own x
 */
export function notebook(view, choices, hint) {
  const link = `/${pathOf(view.page)}${queryOf([...view.query, ...framePairs(choices)])}`;
  return `import normviz as nv\n\nnv.open(${JSON.stringify(link)})${hint ? `\n# With your own x: ${hint}` : ""}`;
}

/**
 * The shortest ``hide=`` for the hidden parts.
 * @param {Group[]} groups
 * @param {Set<string>} hidden
 */
export function hideText(groups, hidden) {
  const all = groups.flatMap(({ names }) => names), controls = groups[0].names;
  /** @param {(one: PartName) => boolean} skip */
  const without = (skip) => all.filter((one) => hidden.has(one.name) && !skip(one)).map(({ name }) => name);
  if (!hidden.size) return "";
  if (all.filter(({ figure }) => !figure).every(({ name }) => hidden.has(name))) return ["all", ...without(({ figure }) => !figure)].join();
  if (controls.length > 1 && controls.every(({ name }) => hidden.has(name))) return ["controls", ...without((one) => controls.includes(one))].join();
  return without(() => false).join();
}
