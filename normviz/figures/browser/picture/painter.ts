// Reads a figure off the page: boxes, lines of text, cells and shapes, in the order in which the browser paints them.

import { SVG } from "../common/dom.ts";
import { round2 } from "../common/format.ts";
import { cellsAsSvg } from "../panels/cells.ts";
import { plainText } from "../text/readout.ts";
import { PICTURE_FONT, escapeXml, fillOrStroke, roundedRect, shapeAsSvg, textsAsSvg } from "./shapes.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

const MARGIN = 16; // px
const HEADING = 34;
const CODE_FONT = "Menlo, Consolas, 'DejaVu Sans Mono', monospace";

type Span = { text: string; gap: number; size: string; weight: string; color: string; code: boolean };
/** ``afterMark``: its last span comes from ::before */
type Line = { block: Element; x: number; y: number; end: number; afterMark: boolean; spans: Span[] };

export class PagePainter {
  left = 0;
  top = 0;
  parts: string[] = []; // the SVG so far
  line: Line | null = null; // the line of text that is being read
  view: PictureSource;
  plot: { shapes: string, namespaces: string } | null;
  panels: Map<Element, DrawnPanel>;
  canvas: CanvasRenderingContext2D;

  /** ``plot``: a chart's own SVG */
  constructor(view: PictureSource, plot: { shapes: string, namespaces: string } | null) {
    this.view = view;
    this.plot = plot;
    this.panels = new Map([...(view.panels?.values() ?? [])].map((panel) => [panel.plot ?? panel.svg, panel]));
    this.canvas = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  }

  svg(heading: string, colors: Theme): PictureSvg {
    const { view, plot, parts } = this, box = view.root.getBoundingClientRect(), above = heading ? HEADING : 0;
    this.left = box.left - MARGIN;
    this.top = box.top - MARGIN - above;
    const width = Math.ceil(box.width + 2 * MARGIN), height = Math.ceil(box.height + 2 * MARGIN + above);
    if (heading) parts.push(`<text x="${MARGIN}" y="${MARGIN + 17}" font-size="18" font-weight="600" fill="${colors.text}">${escapeXml(heading)}</text>`);
    for (const child of view.root.childNodes) this.visit(child);
    this.endLine();
    const description = view.readout && view.active ? plainText(view.readout(view.active)) : (view.data.figure?.alt ?? "");
    const text = [
      `<svg xmlns="${SVG}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${PICTURE_FONT}"${plot?.namespaces ?? ""}>`,
      `<title>${escapeXml(heading || description || "normviz")}</title>`,
      `<desc>${escapeXml(description)}</desc>`,
      `<rect width="${width}" height="${height}" fill="${colors.background}"/>`,
      ...parts,
      "</svg>\n",
    ].join("\n");
    return { text, width, height };
  }

  visit(node: Node) {
    if (node instanceof Text) this.readText(node);
    if (!(node instanceof Element)) return;
    const style = getComputedStyle(node), panel = this.panels.get(node);
    if (style.display === "none" || style.visibility === "hidden") return;
    if (panel?.plot) this.parts.push(this.group(node, "cells", cellsAsSvg(panel)));
    else if (node.namespaceURI === SVG) this.parts.push(this.overlay(node));
    else if (node.classList.contains("nv-chart-plot")) this.parts.push(this.group(node, "chart", this.plot?.shapes ?? ""));
    else {
      this.drawBox(node, style);
      const mark = getComputedStyle(node, "::before").content.match(/^"(.*)"$/s);
      if (mark) this.addSpan(node, mark[1], node.getClientRects()[0], true);
      for (const child of node.childNodes) this.visit(child);
    }
  }

  /** Shapes at the place of an element, on whole pixels: the lines between cells stay sharp. */
  group(node: Element, name: string, shapes: string, left = 0, top = 0) {
    const box = node.getBoundingClientRect();
    return `<g class="nv-${name}" transform="translate(${Math.round(box.left - this.left + left)} ${Math.round(box.top - this.top + top)})">${shapes}</g>`;
  }

  /** An element's background and borders. */
  drawBox(node: Element, style: CSSStyleDeclaration) {
    const box = node.getBoundingClientRect(), { width, height } = box, x = box.left - this.left, y = box.top - this.top;
    const radii = [style.borderTopLeftRadius, style.borderTopRightRadius, style.borderBottomRightRadius, style.borderBottomLeftRadius]
      .map((radius) => Math.min(parseFloat(radius), width / 2, height / 2));
    const fill = fillOrStroke("fill", style.backgroundColor);
    if (fill) this.parts.push(`<path d="${roundedRect(x, y, width, height, radii)}" ${fill}/>`);
    const sides = [[style.borderTopStyle, style.borderTopWidth], [style.borderRightStyle, style.borderRightWidth],
      [style.borderBottomStyle, style.borderBottomWidth], [style.borderLeftStyle, style.borderLeftWidth]];
    const [top, right, bottom, left] = sides.map(([kind, size]) => (kind === "none" ? 0 : parseFloat(size)));
    if (top && top === right && top === bottom && top === left) {
      const stroke = `fill="none" ${fillOrStroke("stroke", style.borderTopColor)} stroke-width="${top}"`;
      this.parts.push(`<rect ${place(x + top / 2, y + top / 2, width - top, height - top)} rx="${radii[0]}" ${stroke}/>`);
      return;
    }
    const edges: [number, string, number, number, number][] = [[top, style.borderTopColor, x, y, width], [right, style.borderRightColor, x + width - right, y, 0],
      [bottom, style.borderBottomColor, x, y + height - bottom, width], [left, style.borderLeftColor, x, y, 0]];
    for (const [size, color, atX, atY, length] of edges)
      if (size && height && width) this.parts.push(`<rect ${place(atX, atY, length || size, length ? size : height)} ${fillOrStroke("fill", color)}/>`);
  }

  readText(node: Text) {
    const parent = node.parentElement as Element, last = this.line?.spans.at(-1);
    if (node.data.trim()) for (const { text, rect } of linesOf(node)) this.addSpan(parent, text, rect, false);
    else if (last && node.data) this.line?.spans.push({ ...last, text: " ", gap: 0 });
  }

  /** The texts of one line in one block become one text of the picture. ``mark``: the text of ::before. */
  addSpan(parent: Element, text: string, rect: { left: number, top: number, right: number, height: number } | undefined, mark: boolean) {
    if (!rect) return;
    const style = getComputedStyle(parent), block = blockOf(parent);
    this.canvas.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = this.canvas.measureText("x");
    const y = rect.top - this.top + (rect.height - up - down) / 2 + up, x = rect.left - this.left;
    if (this.line?.block !== block || Math.abs(this.line.y - y) > 2) this.endLine();
    const line = (this.line ??= { block, x, y, end: x, afterMark: false, spans: [] });
    const gap = mark || line.afterMark ? 0 : x - line.end;
    line.afterMark = mark;
    line.end = rect.right - this.left;
    const { fontSize: size, fontWeight: weight, color } = style;
    line.spans.push({ text, gap: Math.abs(gap) > 1.5 ? gap : 0, size, weight, color, code: /mono/i.test(style.fontFamily) });
  }

  endLine() {
    const { line } = this;
    this.line = null;
    if (!line) return;
    line.spans[0].text = line.spans[0].text.trimStart();
    const last = line.spans[line.spans.length - 1];
    last.text = last.text.trimEnd();
    const spans = line.spans.filter(({ text }) => text).map(({ text, gap, size, weight, color, code }, i) => {
      const looks = [`font-size="${parseFloat(size)}"`, Number(weight) > 400 && `font-weight="${weight}"`, fillOrStroke("fill", color)];
      looks.push(code && `font-family="${CODE_FONT}"`, !!i && !!gap && `dx="${round2(gap)}"`);
      return `<tspan ${looks.filter(Boolean).join(" ")}>${escapeXml(text)}</tspan>`;
    });
    if (spans.length) this.parts.push(`<text x="${round2(line.x)}" y="${round2(line.y)}" xml:space="preserve">${spans.join("")}</text>`);
  }

  /** The SVG over the cells of a panel, or a cube. */
  overlay(svg: Element) {
    const panel = [...this.panels.values()].find((one) => one.svg === svg), shapes = [];
    for (const child of svg.children) // a cube has no texts of cells
      if (panel && child === panel.mutedTexts?.parent) shapes.push(textsAsSvg(panel, this.view.active));
      else if (!panel || child !== panel.strongTexts?.parent) shapes.push(shapeAsSvg(child));
    return this.group(svg, panel ? "over" : "strips", shapes.join(""), panel?.left, panel?.top);
  }
}

const place = (x: number, y: number, width: number, height: number): string => `x="${round2(x)}" y="${round2(y)}" width="${round2(width)}" height="${round2(height)}"`;

const blockOf = (element: Element): Element =>
  element.parentElement && /^(inline|contents)$/.test(getComputedStyle(element).display) ? blockOf(element.parentElement) : element;

/** The lines of a text node, each with its rectangle. */
function linesOf(node: Text): { text: string, rect: { left: number, top: number, right: number, height: number } | undefined }[] {
  const range = document.createRange(), text = node.data.replace(/\s/g, " ");
  const lines: { text: string, left: number, top: number, right: number, height: number }[] = [];
  range.selectNodeContents(node);
  const boxes = range.getClientRects();
  if (boxes.length <= 1) return [{ text, rect: boxes[0] }];
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
