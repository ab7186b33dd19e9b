// What a view looks like as text: its address, an iframe, Markdown, a notebook cell. Pure functions.

// As normviz.scene.view.link writes it: readable, and nothing in it ends an address.
const readable = (text) =>
  encodeURIComponent(text)
    .replace(/[!*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%(2C|5B|5D|3D|3A|3E|3B)/g, decodeURIComponent);

const queryOf = (pairs) => (pairs.length ? `?${pairs.map(([name, value]) => `${name}=${readable(value)}`).join("&")}` : "");

// Where the app lies, with its base path: /lab/ of /lab/compare.
function rootOf(path, page) {
  const bare = page === "explore" ? path : path.replace(/\/+$/, "").slice(0, -page.length);
  return bare.endsWith("/") ? bare : `${bare}/`;
}

const pathOf = (page) => (page === "explore" ? "" : page);

// The pairs that frame a view: what is hidden, and the caption.
const framePairs = ({ hide, caption }) => [...(hide ? [["hide", hide]] : []), ...(caption ? [["caption", caption]] : [])];

const viewUrl = (app, view, choices) => app + pathOf(view.page) + queryOf([...view.query, ...framePairs(choices)]);

function embedUrl(app, view, choices) {
  const theme = choices.theme ? [["embed_options", `${choices.theme}_theme`]] : [];
  return app + pathOf(view.page) + queryOf([...view.query, ...framePairs(choices), ["embed", "true"], ...theme]);
}

const exportUrl = (app, view, choices) => `${app}export${queryOf([["page", view.page], ...view.query, ...framePairs(choices)])}`;

const attribute = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

// A frame of a fixed width, or as wide as its column. Then its height follows the column's width, ``heights`` [[width, height], ...];
// where a page takes only attributes, or styles without a container, the height is one at which nothing scrolls all the same.
function iframe(url, title, width, heights) {
  const steps = width ? [] : stepsOf(heights), tallest = Math.max(...heights.map(([, height]) => height));
  const frame = (style) =>
    `<iframe src="${attribute(url)}" title="${attribute(title)}" width="${width ?? "100%"}" height="${tallest}" loading="lazy" allow="clipboard-write" style="border: 0${style}"></iframe>`;
  if (steps.length < 2) return frame("");
  const [lowest, ...higher] = [...steps].reverse();
  const height = higher.map(([below, high]) => `min(${high}px, (${below}px - 100cqw) * 9999)`);
  return `<div style="container-type: inline-size">${frame(`; height: max(${lowest[1]}px, ${height.join(", ")})`)}</div>`;
}

// The fewest heights that are enough at every width: [[below which width, height], ...], the last for all wider ones.
function stepsOf(heights) {
  const steps = [];
  let first = 0; // of a step, at its widest: what it gives beyond that is at most a tenth
  for (const [i, [, height]] of [...heights.entries()].reverse()) {
    const below = heights[i + 1]?.[0] ?? Infinity;
    if (height > 1.1 * first) steps.unshift([below, (first = height)]);
    else steps[0][1] = Math.max(steps[0][1], height);
  }
  return steps;
}

// In Markdown, brackets and quotes would end an address or start an emphasis.
function markdown(url, title) {
  const safe = url.replace(/[()[\]<>'*_]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  return `[${title.replace(/[!-/:-@[-`{-~]/g, "\\$&").replace(/\\([ ,.:;?()=-])/g, "$1")}](${safe})`;
}

function notebook(view, choices, hint) {
  const link = `/${pathOf(view.page)}${queryOf([...view.query, ...framePairs(choices)])}`;
  return `import normviz as nv\n\nnv.open(${JSON.stringify(link)})${hint ? `\n# On an x of your own: ${hint}` : ""}`;
}

// The shortest hide= for what is not ticked.
function hideText(groups, hidden) {
  const all = groups.flatMap(({ names }) => names), controls = groups[0].names;
  const without = (skip) => all.filter((one) => hidden.has(one.name) && !skip(one)).map(({ name }) => name);
  if (!hidden.size) return "";
  if (all.filter(({ figure }) => !figure).every(({ name }) => hidden.has(name))) return ["all", ...without(({ figure }) => !figure)].join();
  if (controls.length > 1 && controls.every(({ name }) => hidden.has(name))) return ["controls", ...without((one) => controls.includes(one))].join();
  return without(() => false).join();
}
