// The colour of a cell, and ink that can be read on it. The module's first line has the colours of the themes.

// Plotly's colour scale, as normviz.figures.palette.stops makes it.
function stops(colours, scale, groups) {
  const ramp = { groups: colours.many, parameters: colours.parameters, values: colours.values }[scale];
  if (!ramp) return [[0, colours.none], [1, colours.none]];
  if (scale === "groups" && groups <= colours.few.length)
    return colours.few.slice(0, groups).flatMap((colour, i) => [[i / groups, colour], [(i + 1) / groups, colour]]);
  return ramp.map((colour, i) => [i / (ramp.length - 1), colour]);
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function fillAt(scale, position) {
  const at = Math.min(1, Math.max(0, position));
  for (let i = 1; i < scale.length; i++) {
    const [from, low] = scale[i - 1], [to, high] = scale[i];
    if (at <= to && to > from) {
      const share = (at - from) / (to - from), a = rgb(low), b = rgb(high);
      return a.map((part, k) => part + (b[k] - part) * share);
    }
  }
  return rgb(scale[scale.length - 1][1]);
}

function luminance(parts) {
  const [r, g, b] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function inkOn(fill, inks) {
  const ground = luminance(fill);
  const contrast = (ink) => {
    const light = luminance(rgb(ink));
    return (Math.max(light, ground) + 0.05) / (Math.min(light, ground) + 0.05);
  };
  return contrast(inks[0]) >= contrast(inks[1]) ? inks[0] : inks[1];
}
