// The color of a cell, and a text color that is readable on it.

export const GROUP_COLORS = 16; // the same as in normviz.figures.palette

/**
 * Plotly's color scale, as normviz.figures.palette.stops makes it.
 * @param {Colors} colors
 * @param {string} scale
 * @param {number} groups
 * @returns {ColorScale}
 */
export function colorScale(colors, scale, groups) {
  if (scale === "groups") {
    const shown = [...colors.few, ...colors.more].slice(0, groups), { length } = shown;
    return shown.flatMap((color, i) => /** @type {ColorScale} */ ([[i / length, color], [(i + 1) / length, color]]));
  }
  const ramps = /** @type {Record<string, string[]>} */ ({ parameters: colors.parameters, values: colors.values });
  const ramp = ramps[scale];
  if (!ramp) return [[0, colors.none], [1, colors.none]];
  return ramp.map((color, i) => [i / (ramp.length - 1), color]);
}

/**
 * The place of a value on its panel's color scale: from 0 to 1. With more groups than colors, the colors repeat.
 * @param {Pick<PanelData, "scale" | "groups" | "low" | "high">} figure
 * @param {number} value
 */
export function placeOnScale(figure, value) {
  return colorsRepeat(figure) ? ((value % GROUP_COLORS) + 0.5) / GROUP_COLORS : (value - figure.low) / (figure.high - figure.low);
}

/** @param {Pick<PanelData, "scale" | "groups">} figure */
const colorsRepeat = ({ scale, groups }) => scale === "groups" && groups > GROUP_COLORS;

/**
 * The scale of ranks: each of the drawn groups has a color of its own, as far as there are colors.
 * @param {PanelData["scale"]} scale
 * @param {number} groups
 */
export const rankScale = (scale, groups) => ({ scale, groups, low: -0.5, high: groups - 0.5 });

/**
 * The rows of a heatmap and the ends of its color scale, as Plotly draws them.
 * @param {Pick<PanelData, "scale" | "groups" | "low" | "high">} figure
 * @param {Float32Array[]} rows
 */
export function shownAs(figure, rows) {
  if (!colorsRepeat(figure)) return { z: rows, zmin: figure.low, zmax: figure.high };
  return { z: rows.map((row) => row.map((id) => id % GROUP_COLORS)), zmin: -0.5, zmax: GROUP_COLORS - 0.5 };
}

/**
 * The color of one of ``groups`` groups.
 * @param {Colors} colors
 * @param {number} groups
 * @param {number} id
 */
export function groupColor(colors, groups, id) {
  const figure = /** @type {const} */ ({ scale: "groups", groups, low: -0.5, high: groups - 0.5 });
  return formatHex(colorAt(colorScale(colors, "groups", groups), placeOnScale(figure, id)));
}

/**
 * @param {string} hex
 * @returns {RGB}
 */
export function parseHex(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** @param {RGB} color */
export function formatHex(color) {
  return `#${color.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}

/**
 * The scale's color at a position from 0 to 1.
 * @param {ColorScale} scale
 * @param {number} position
 * @returns {RGB}
 */
export function colorAt(scale, position) {
  const at = Math.min(1, Math.max(0, position));
  for (let i = 1; i < scale.length; i++) {
    const [from, low] = scale[i - 1], [to, high] = scale[i];
    if (at <= to && to > from) {
      const share = (at - from) / (to - from), a = parseHex(low), b = parseHex(high);
      return a.map((channel, k) => channel + (b[k] - channel) * share);
    }
  }
  return parseHex(scale[scale.length - 1][1]);
}

/**
 * Relative luminance, as WCAG defines it.
 * @param {RGB} color
 */
export function luminance(color) {
  const [r, g, b] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * The text color with the higher contrast on a fill.
 * @param {RGB} fill
 * @param {string[]} inks
 */
export function readableInk(fill, inks) {
  const ground = luminance(fill);
  /** @param {string} ink */
  const contrast = (ink) => {
    const light = luminance(parseHex(ink));
    return (Math.max(light, ground) + 0.05) / (Math.min(light, ground) + 0.05);
  };
  return contrast(inks[0]) >= contrast(inks[1]) ? inks[0] : inks[1];
}
