// SVG of the shapes in a figure, with the style sheet's colors written into it.

import { formatHex } from "../common/color.ts";
import { round2 } from "../common/format.ts";
import { groupOf } from "../tensor/sharing.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

export const PICTURE_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"; // their letters have the same widths; .nv-picture uses the same fonts
const TEXT_MIDDLE = 0.3465; // distance from the middle of a line down to its baseline, as a part of Arial's size

/** The texts in the cells: strong for the peers, muted for all other elements. */
export function textsAsSvg(panel: DrawnPanel, active: Index | null | undefined) {
  const tables = panel.tables(), open = active && tables ? groupOf(tables, active) : null, muted = fillOrStroke("fill", getComputedStyle(panel.mutedTexts.parent).fill);
  const texts = [...panel.strongTexts.parent.children].map((text, number) => {
    const isOpen = open === null || !tables || groupOf(tables, panel.written[number]) === open;
    const size = Number(text.getAttribute("font-size")), y = Number(text.getAttribute("y")) + TEXT_MIDDLE * size, fill = isOpen ? `fill="${text.getAttribute("fill")}"` : muted;
    return `<text x="${round2(text.getAttribute("x"))}" y="${round2(y)}" font-size="${round2(size)}" ${fill}>${escapeXml(text.textContent)}</text>`;
  });
  return `<g class="nv-text" text-anchor="middle">${texts.join("")}</g>`;
}

/** A shape as the style sheet paints it. */
export function shapeAsSvg(node: Element): string {
  const style = getComputedStyle(node), name = node.getAttribute("class"), kind = name ? ` class="${escapeXml(name)}"` : "";
  if (node.localName === "defs" || style.display === "none" || style.visibility === "hidden") return "";
  if (node.localName === "g") return `<g${kind}>${[...node.children].map(shapeAsSvg).join("")}</g>`;
  if (node.localName === "text") {
    const size = parseFloat(style.fontSize), y = Number(node.getAttribute("y")) + (style.dominantBaseline === "central" ? TEXT_MIDDLE * size : 0);
    return `<text${kind} x="${round2(node.getAttribute("x"))}" y="${round2(y)}" font-size="${size}" text-anchor="${style.textAnchor}" ${fillOrStroke("fill", style.fill)}>${escapeXml(node.textContent)}</text>`;
  }
  if (node.localName === "path" && !node.getAttribute("d")) return "";
  const places = ["d", "x", "y", "width", "height", "fill-rule"].filter((place) => node.hasAttribute(place)).map((place) => `${place}="${escapeXml(node.getAttribute(place))}"`);
  const stroke = fillOrStroke("stroke", style.stroke), line = stroke && `${stroke} stroke-width="${parseFloat(style.strokeWidth)}"`;
  return `<${node.localName}${kind} ${[...places, fillOrStroke("fill", style.fill) || 'fill="none"', line].filter(Boolean).join(" ")}/>`;
}

/** A rectangle with a radius for each corner. */
export function roundedRect(x: number, y: number, width: number, height: number, [a, b, c, d]: number[]) {
  const arc = (radius: number, dx: number, dy: number): string => (radius ? `a${radius},${radius},0,0,1,${dx},${dy}` : "");
  return `M${round2(x + a)},${round2(y)}h${round2(width - a - b)}${arc(b, b, b)}v${round2(height - b - c)}${arc(c, -c, c)}h${round2(c + d - width)}${arc(d, -d, -d)}v${round2(a + d - height)}${arc(a, a, -a)}z`;
}

/** A computed color as attributes that old programs know; nothing for a transparent one. */
export function fillOrStroke(what: "fill" | "stroke", color: string) {
  const numbers = color.match(/-?[\d.]+(e-?\d+)?/g)?.map(Number);
  if (!numbers || color === "none") return "";
  const [red, green, blue, alpha = 1] = numbers, most = color.startsWith("color(") ? 1 : 255;
  if (!alpha) return "";
  const hex = formatHex([red, green, blue].map((part) => (255 * Math.min(most, Math.max(0, part))) / most));
  return `${what}="${hex}"${alpha < 1 ? ` ${what}-opacity="${round2(alpha)}"` : ""}`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text or an attribute's value, without characters that XML does not allow. */
export const escapeXml = (text: string | null) =>
  String(text)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"']/g, (sign) => ENTITIES[sign]);
