// The colour of a cell, and a text colour that is readable on it.

/**
 * Plotly's colour scale, as normviz.figures.palette.stops makes it.
 * @param {Colours} colours
 * @param {string} scale
 * @param {number} groups
 * @returns {ColourScale}
 */
export function colourScale(colours, scale, groups) {
  const ramps = /** @type {Record<string, string[]>} */ ({ groups: colours.many, parameters: colours.parameters, values: colours.values });
  const ramp = ramps[scale];
  if (!ramp) return [[0, colours.none], [1, colours.none]];
  if (scale === "groups" && groups <= colours.few.length)
    return colours.few.slice(0, groups).flatMap((colour, i) => /** @type {ColourScale} */ ([[i / groups, colour], [(i + 1) / groups, colour]]));
  return ramp.map((colour, i) => [i / (ramp.length - 1), colour]);
}

/**
 * @param {string} hex
 * @returns {RGB}
 */
export function parseHex(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** @param {RGB} colour */
export function formatHex(colour) {
  return `#${colour.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}

/**
 * The scale's colour at a position from 0 to 1.
 * @param {ColourScale} scale
 * @param {number} position
 * @returns {RGB}
 */
export function colourAt(scale, position) {
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
 * @param {RGB} colour
 */
export function luminance(colour) {
  const [r, g, b] = colour.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * The text colour with the higher contrast on a fill.
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
