// What the numbers and the colors in the cells of a panel mean, below its title.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */

import { GROUP_COLORS, colorAt, formatHex } from "../page/color.js";
import { html } from "../page/dom.js";
import { formatShort } from "../page/format.js";
import { _, ngettext } from "../page/messages.js";

const BAR_STEPS = 21;

/**
 * Ids are explained where they are written, once in a row of panels; values have a color bar from the lowest to the highest.
 * @param {DrawnPanel} panel
 * @param {boolean} numbered whether the cells have numbers
 */
export function drawLegend(panel, numbered) {
  const { legend, figure } = panel;
  legend.replaceChildren();
  if (figure.scale === "values") drawColorBar(panel);
  else if (figure.row && figure.key !== `${figure.row}0`) return; // the first one of a row explains
  else if (numbered) legend.textContent = figure.scale === "groups" ? _("number = group") : _("number = gamma");
  else if (figure.scale === "groups" && panel.ranks.size > GROUP_COLORS) legend.textContent = ngettext("the colors repeat after {n} group", "the colors repeat after {n} groups", GROUP_COLORS);
}

/** @param {DrawnPanel} panel */
function drawColorBar({ legend, figure, scale }) {
  html("span", "", legend, formatShort(figure.low));
  const bar = html("span", "nv-bar", legend);
  for (let step = 0; step < BAR_STEPS; step++) html("i", "", bar).style.backgroundColor = formatHex(colorAt(scale, step / (BAR_STEPS - 1)));
  html("span", "", legend, formatShort(figure.high));
}
