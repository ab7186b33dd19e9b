// The color of a cell, and a text color that is readable on it.

/**
 * Plotly's color scale, as normviz.figures.palette.stops makes it.
 * @param {Colors} colors
 * @param {string} scale
 * @param {number} groups
 * @returns {ColorScale}
 */
export function colorScale(colors, scale, groups) {
  const ramps = /** @type {Record<string, string[]>} */ ({ groups: colors.many, parameters: colors.parameters, values: colors.values });
  const ramp = ramps[scale];
  if (!ramp) return [[0, colors.none], [1, colors.none]];
  if (scale === "groups" && groups <= colors.few.length)
    return colors.few.slice(0, groups).flatMap((color, i) => /** @type {ColorScale} */ ([[i / groups, color], [(i + 1) / groups, color]]));
  return ramp.map((color, i) => [i / (ramp.length - 1), color]);
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
