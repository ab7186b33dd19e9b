// The color of a cell, and a text color that is readable on it.

export const GROUP_COLORS = 16; // the same as in normviz.figures.palette

/** Plotly's color scale, as normviz.figures.palette.stops makes it. */
export function colorScale(colors: Theme, scale: string, groups: number): ColorScale {
  if (scale === "groups") {
    const shown = [...colors.few, ...colors.more].slice(0, groups), { length } = shown;
    return shown.flatMap((color, i) => [[i / length, color], [(i + 1) / length, color]] as ColorScale);
  }
  const ramps = { parameters: colors.parameters, values: colors.values } as Record<string, string[]>;
  const ramp = ramps[scale];
  if (!ramp) return [[0, colors.none], [1, colors.none]];
  return ramp.map((color, i) => [i / (ramp.length - 1), color]);
}

/** The place of a value on its panel's color scale: from 0 to 1. With more groups than colors, the colors repeat. */
export function placeOnScale(figure: Pick<PanelData, "scale" | "groups" | "low" | "high">, value: number) {
  return colorsRepeat(figure) ? ((value % GROUP_COLORS) + 0.5) / GROUP_COLORS : (value - figure.low) / (figure.high - figure.low);
}

const colorsRepeat = ({ scale, groups }: Pick<PanelData, "scale" | "groups">) => scale === "groups" && groups > GROUP_COLORS;

/** The scale of ranks: each of the drawn groups has a color of its own, as far as there are colors. */
export const rankScale = (scale: PanelData["scale"], groups: number) => ({ scale, groups, low: -0.5, high: groups - 0.5 });

/** The rows of a heatmap and the ends of its color scale, as Plotly draws them. */
export function shownAs(figure: Pick<PanelData, "scale" | "groups" | "low" | "high">, rows: Float32Array[]) {
  if (!colorsRepeat(figure)) return { z: rows, zmin: figure.low, zmax: figure.high };
  return { z: rows.map((row) => row.map((id) => id % GROUP_COLORS)), zmin: -0.5, zmax: GROUP_COLORS - 0.5 };
}

/** The color of one of ``groups`` groups. */
export function groupColor(colors: Theme, groups: number, id: number) {
  const figure = { scale: "groups", groups, low: -0.5, high: groups - 0.5 } as const;
  return formatHex(colorAt(colorScale(colors, "groups", groups), placeOnScale(figure, id)));
}

/** A color of each theme in CSS. */
export const bothThemes = (color: (theme: Theme) => string) => `light-dark(${color(THEMES.light)}, ${color(THEMES.dark)})`;

/** The color of a group in CSS, where no text is on it. */
export const groupColorOf = (rank: number) => bothThemes(({ few, more }) => [...few, ...more][rank % GROUP_COLORS]);

/** The color of a group in CSS, where text on it is dark; there are fewer such colors. */
export const groupBackground = (rank: number) => bothThemes(({ few }) => few[rank % few.length]);

export function parseHex(hex: string): RGB {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

export function formatHex(color: RGB) {
  return `#${color.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}

/** The scale's color at a position from 0 to 1. */
export function colorAt(scale: ColorScale, position: number): RGB {
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

/** Relative luminance, as WCAG defines it. */
export function luminance(color: RGB) {
  const [r, g, b] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The text color with the higher contrast on a fill. */
export function readableInk(fill: RGB, inks: string[]) {
  const ground = luminance(fill);
  const contrast = (ink: string) => {
    const light = luminance(parseHex(ink));
    return (Math.max(light, ground) + 0.05) / (Math.min(light, ground) + 0.05);
  };
  return contrast(inks[0]) >= contrast(inks[1]) ? inks[0] : inks[1];
}
