// A still picture of a view as it stands: one SVG of plain shapes and text, which any program reads, or a PNG of it.

const STILL = {
  pad: 16,
  sharp: 2, // pixels of a PNG for one of the page
  most: 16e6, // pixels that every browser's canvas takes
  font: "Arial, Helvetica, 'Liberation Sans', sans-serif", // as wide everywhere; nv-picture has the same
  middle: 0.3465, // of Arial's size: how far its baseline lies below the middle of a line
};

function pictured(view) {
  view.root.nvImage = (kind) => stillImage(view, kind);
  view.root.nvImageName = (kind) => imageName(view.data, kind);
}

async function stillImage(view, kind) {
  if (kind !== "svg" && kind !== "png") throw new Error(`An image is "svg" or "png", not "${kind}".`);
  if (view.root.dataset.state !== "ready") throw new Error("The figure is not drawn yet.");
  const picture = await stillSvg(view), svg = new Blob([picture.text], { type: "image/svg+xml" });
  return kind === "svg" ? svg : stillPng(svg, picture);
}

function imageName(data, kind) {
  const layer = data.layer || (data.layers ? "compare" : data.kind), shape = data.grid?.shape.join("x") ?? "";
  return `${["normviz", layer, shape].map(safeName).filter(Boolean).join("-")}.${kind}`;
}

const safeName = (text) => text.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 60).replace(/^-|-$/g, "");

async function stillPng(svg, { width, height }) {
  const address = URL.createObjectURL(svg), image = new Image();
  try {
    image.src = address;
    await image.decode();
    const sharp = Math.min(STILL.sharp, Math.sqrt(STILL.most / (width * height))), canvas = document.createElement("canvas");
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("The browser made no PNG."))), "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

async function stillSvg(view) {
  const { root, data, colours } = view, plotted = view.stillPlot ? await view.stillPlot() : null;
  root.classList.add("nv-picture"); // taken off before anything is painted
  root.classList.toggle("nv-nobody", !view.active);
  try {
    return new Still(view, plotted).svg(headingOf(data), colours);
  } finally {
    root.classList.remove("nv-picture", "nv-nobody");
  }
}

// Which layer, on which tensor.
function headingOf({ layer, grid, name = "x" }) {
  if (!grid || name !== "x") return "";
  return `${layer ? `${layer} on ` : ""}x of shape (${grid.shape.join(", ")}${grid.shape.length === 1 ? "," : ""})`;
}

// Reads a view off the page: boxes, lines of text, cells and shapes, in the order in which they are painted.
class Still {
  constructor(view, plotted) {
    this.view = view;
    this.plotted = plotted;
    this.panels = new Map([...(view.panels?.values() ?? [])].map((panel) => [panel.plot ?? panel.svg, panel]));
    this.ink = document.createElement("canvas").getContext("2d");
    this.parts = [];
    this.line = null;
  }

  svg(heading, colours) {
    const box = this.view.root.getBoundingClientRect(), { pad, font } = STILL, head = heading ? 34 : 0;
    this.left = box.left - pad;
    this.top = box.top - pad - head;
    const width = Math.ceil(box.width + 2 * pad), height = Math.ceil(box.height + 2 * pad + head);
    if (heading) this.parts.push(`<text x="${pad}" y="${pad + 17}" font-size="18" font-weight="600" fill="${colours.text}">${escaped(heading)}</text>`);
    for (const child of this.view.root.childNodes) this.visit(child);
    this.endLine();
    const told = this.view.readout && this.view.active ? spoken(this.view.readout(this.view.active)) : (this.view.data.figure?.alt ?? "");
    const text = [
      `<svg xmlns="${SVG}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${font}"${this.plotted?.names ?? ""}>`,
      `<title>${escaped(heading || told || "normviz")}</title>`,
      `<desc>${escaped(told)}</desc>`,
      `<rect width="${width}" height="${height}" fill="${colours.background}"/>`,
      ...this.parts,
      "</svg>\n",
    ].join("\n");
    return { text, width, height };
  }

  visit(node) {
    if (node.nodeType === Node.TEXT_NODE) return this.words(node);
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    const style = getComputedStyle(node);
    if (style.display === "none" || style.visibility === "hidden") return;
    const panel = this.panels.get(node);
    if (panel?.plot) return this.parts.push(this.at(node, "cells", stillCells(panel)));
    if (node.namespaceURI === SVG) return this.parts.push(this.over(node));
    if (node.classList.contains("nv-chart-plot")) return this.parts.push(this.at(node, "chart", this.plotted.shapes));
    this.box(node, style);
    const before = getComputedStyle(node, "::before").content.match(/^"(.*)"$/s);
    if (before) this.words(node, before[1]);
    for (const child of node.childNodes) this.visit(child);
  }

  // On whole pixels, as the page has it: the lines between cells stay sharp.
  at(node, name, shapes, left = 0, top = 0) {
    const box = node.getBoundingClientRect();
    return `<g class="nv-${name}" transform="translate(${Math.round(box.left - this.left + left)} ${Math.round(box.top - this.top + top)})">${shapes}</g>`;
  }

  // Background and borders.
  box(node, style) {
    const rect = node.getBoundingClientRect(), x = rect.left - this.left, y = rect.top - this.top;
    const radii = ["TopLeft", "TopRight", "BottomRight", "BottomLeft"].map((corner) => Math.min(parseFloat(style[`border${corner}Radius`]), rect.width / 2, rect.height / 2));
    const ground = painted("fill", style.backgroundColor);
    if (ground) this.parts.push(`<path d="${rounded(x, y, rect.width, rect.height, radii)}" ${ground}/>`);
    const sides = ["Top", "Right", "Bottom", "Left"].map((side) => (style[`border${side}Style`] === "none" ? 0 : parseFloat(style[`border${side}Width`])));
    const [top, right, bottom, left] = sides;
    if (top && sides.every((side) => side === top))
      this.parts.push(`<rect x="${short2(x + top / 2)}" y="${short2(y + top / 2)}" width="${short2(rect.width - top)}" height="${short2(rect.height - top)}" rx="${radii[0]}" fill="none" ${painted("stroke", style.borderTopColor)} stroke-width="${top}"/>`);
    else {
      const edges = [[x, y, rect.width, top, style.borderTopColor], [x + rect.width - right, y, right, rect.height, style.borderRightColor], [x, y + rect.height - bottom, rect.width, bottom, style.borderBottomColor], [x, y, left, rect.height, style.borderLeftColor]];
      for (const [at, down, width, height, colour] of edges)
        if (width && height) this.parts.push(`<rect x="${short2(at)}" y="${short2(down)}" width="${short2(width)}" height="${short2(height)}" ${painted("fill", colour)}/>`);
    }
  }

  // The words of a node, line by line; those of one line and one block become one text.
  words(node, before = null) {
    const parent = before === null ? node.parentElement : node, style = getComputedStyle(parent);
    if (before === null && !node.data.trim()) return this.line && node.data && this.line.spans.push({ ...this.line.spans.at(-1), text: " ", gap: 0 });
    for (const { text, rect } of before === null ? linesOf(node) : [{ text: before, rect: parent.getClientRects()[0] }]) {
      if (!rect) continue;
      let block = parent;
      while (/^inline$|^contents$/.test(getComputedStyle(block).display)) block = block.parentElement;
      this.ink.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
      const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = this.ink.measureText("x");
      const y = rect.top - this.top + (rect.height - up - down) / 2 + up, x = rect.left - this.left;
      if (!this.line || this.line.block !== block || Math.abs(this.line.y - y) > 2) {
        this.endLine();
        this.line = { block, x, y, end: x, spans: [] };
      }
      const gap = before === null && !this.line.before ? x - this.line.end : 0;
      this.line.before = before !== null;
      this.line.end = rect.right - this.left;
      this.line.spans.push({ text, gap: Math.abs(gap) > 1.5 ? gap : 0, size: style.fontSize, weight: style.fontWeight, colour: style.color, code: /mono/i.test(style.fontFamily) });
    }
  }

  endLine() {
    const { line } = this;
    this.line = null;
    if (!line) return;
    line.spans[0].text = line.spans[0].text.trimStart();
    line.spans.at(-1).text = line.spans.at(-1).text.trimEnd();
    const spans = line.spans.filter(({ text }) => text).map(({ text, gap, size, weight, colour, code }, i) => {
      const looks = [`font-size="${parseFloat(size)}"`, weight > 400 && `font-weight="${weight}"`, painted("fill", colour), code && 'font-family="Menlo, Consolas, \'DejaVu Sans Mono\', monospace"', i && gap && `dx="${short2(gap)}"`];
      return `<tspan ${looks.filter(Boolean).join(" ")}>${escaped(text)}</tspan>`;
    });
    if (spans.length) this.parts.push(`<text x="${short2(line.x)}" y="${short2(line.y)}" xml:space="preserve">${spans.join("")}</text>`);
  }

  // What lies over the cells of a panel, or a cube.
  over(svg) {
    const panel = [...this.panels.values()].find((one) => one.svg === svg), shapes = [];
    for (const child of svg.children)
      if (child === panel?.muted) shapes.push(stillTexts(panel, this.view.active));
      else if (child !== panel?.strong) shapes.push(stillShape(child));
    return this.at(svg, "over", shapes.join(""), panel?.left ?? 0, panel?.top ?? 0);
  }
}

// The cells, a path a colour.
function stillCells(panel) {
  const { geometry, figure, scale } = panel, gap = geometry.cellW >= 6 && geometry.cellH >= 6 ? 1 : 0, fills = new Map();
  panel.each((index) => {
    const value = panel.valueAt(index);
    if (!Number.isFinite(value)) return;
    const fill = `#${fillAt(scale, (value - figure.low) / (figure.high - figure.low)).map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
    const { x, y, width, height } = geometry.cell(index), runs = fills.get(fill) ?? [], last = runs.at(-1);
    if (!runs.length) fills.set(fill, runs);
    if (!gap && last && last.y === y && Math.abs(last.x + last.width - x) < 1e-6) last.width += width;
    else runs.push({ x, y, width: width - gap, height: height - gap });
  });
  const cell = ({ x, y, width, height }) => `M${short2(x)},${short2(y)}h${short2(width)}v${short2(height)}h${short2(-width)}z`;
  return [...fills].map(([fill, runs]) => `<path fill="${fill}"${gap ? "" : ' shape-rendering="crispEdges"'} d="${runs.map(cell).join("")}"/>`).join("");
}

// What is printed in the cells: strong where the veil is open, else muted.
function stillTexts(panel, active) {
  const tables = panel.tables(), open = active && tables ? groupOf(tables, active) : null, words = [];
  if (panel.strong.children.length)
    panel.each((index) => {
      const from = open === null || groupOf(tables, index) === open ? panel.strong : panel.muted, text = from.children[words.length];
      const size = Number(text.getAttribute("font-size")), y = Number(text.getAttribute("y")) + STILL.middle * size;
      words.push(`<text x="${short2(text.getAttribute("x"))}" y="${short2(y)}" font-size="${short2(size)}" fill="${text.getAttribute("fill") ?? from.getAttribute("fill")}">${escaped(text.textContent)}</text>`);
    });
  return `<g class="nv-text" text-anchor="middle">${words.join("")}</g>`;
}

// A shape as the style sheet paints it.
function stillShape(node) {
  const style = getComputedStyle(node), name = node.getAttribute("class"), kind = name ? ` class="${escaped(name)}"` : "";
  if (node.localName === "defs" || style.visibility === "hidden") return "";
  if (node.localName === "g") return `<g${kind}>${[...node.children].map(stillShape).join("")}</g>`;
  if (node.localName === "text") {
    const size = parseFloat(style.fontSize), y = Number(node.getAttribute("y")) + (style.dominantBaseline === "central" ? STILL.middle * size : 0);
    return `<text${kind} x="${short2(node.getAttribute("x"))}" y="${short2(y)}" font-size="${size}" text-anchor="${style.textAnchor}" ${painted("fill", style.fill)}>${escaped(node.textContent)}</text>`;
  }
  if (node.localName === "path" && !node.getAttribute("d")) return "";
  const places = ["d", "x", "y", "width", "height", "fill-rule"].filter((place) => node.hasAttribute(place)).map((place) => `${place}="${escaped(node.getAttribute(place))}"`);
  const stroke = painted("stroke", style.stroke), line = stroke && `${stroke} stroke-width="${parseFloat(style.strokeWidth)}"`;
  return `<${node.localName}${kind} ${[...places, painted("fill", style.fill) || 'fill="none"', line].filter(Boolean).join(" ")}/>`;
}

// A text node's lines as they are broken, each with its rectangle.
function linesOf(node) {
  const range = document.createRange(), lines = [], text = node.data.replace(/\s/g, " ");
  range.selectNodeContents(node);
  const whole = range.getClientRects();
  if (whole.length <= 1) return [{ text, rect: whole[0] }];
  let at = 0;
  for (const letter of text) {
    range.setStart(node, at);
    range.setEnd(node, (at += letter.length));
    const rect = [...range.getClientRects()].at(-1), last = lines.at(-1);
    if (!rect || (last && Math.abs(rect.top - last.top) <= rect.height / 2)) {
      if (last) [last.text, last.right] = [last.text + letter, Math.max(last.right, rect?.right ?? 0)];
    } else lines.push({ text: letter, left: rect.left, top: rect.top, right: rect.right, height: rect.height });
  }
  return lines.map(({ text, ...rect }) => ({ text: text.trimEnd(), rect }));
}

function rounded(x, y, width, height, [a, b, c, d]) {
  const arc = (radius, dx, dy) => (radius ? `a${radius},${radius},0,0,1,${dx},${dy}` : "");
  return `M${short2(x + a)},${short2(y)}h${short2(width - a - b)}${arc(b, b, b)}v${short2(height - b - c)}${arc(c, -c, c)}h${short2(c + d - width)}${arc(d, -d, -d)}v${short2(a + d - height)}${arc(a, a, -a)}z`;
}

// A computed colour as attributes; nothing where it cannot be seen. Older readers know neither rgba() nor color().
function painted(what, colour) {
  const numbers = colour.match(/-?[\d.]+(e-?\d+)?/g)?.map(Number);
  if (!numbers || colour === "none") return "";
  const [red, green, blue, alpha = 1] = numbers, most = colour.startsWith("color(") ? 1 : 255;
  if (!alpha) return "";
  const hex = [red, green, blue].map((part) => Math.round((255 * Math.min(most, Math.max(0, part))) / most).toString(16).padStart(2, "0")).join("");
  return `${what}="#${hex}"${alpha < 1 ? ` ${what}-opacity="${short2(alpha)}"` : ""}`;
}

const short2 = (number) => String(Number(Number(number).toFixed(2)));
// Text and attribute values; what XML cannot hold is left out.
const escaped = (text) =>
  String(text)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"']/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[sign]);
