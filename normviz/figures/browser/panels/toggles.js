// The toggles in the title of a panel: one button for each axis, pressed where the mean is taken over it, or where gamma has its own value along it.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */

import { button, find, html } from "../common/dom.js";
import { _, ngettext } from "../common/messages.js";

/**
 * Writes the toggles into the title, or leaves the title as it is where nobody answers them. Buttons stay, because a reader may be using one.
 * @param {DrawnPanel & { title: HTMLElement }} panel
 */
export function drawToggles(panel) {
  const { figure: { toggles, key, title }, title: place, data } = panel, shown = toggles && !data.alone;
  place.classList.toggle("nv-toggles", Boolean(shown));
  if (!shown) return place.replaceChildren(title);
  const axes = toggles.items.map(({ axis }) => axis).join();
  if (place.dataset.axes !== axes || !place.querySelector("button")) {
    place.dataset.axes = axes;
    place.replaceChildren();
    html("span", "", place);
    const group = html("span", "nv-toggle-group", place);
    group.setAttribute("role", "group");
    for (const { axis } of toggles.items)
      button("nv-toggle", group, "", () => panel.view.toggle(key === "stats" ? "mean" : "gamma", axis)).dataset.axis = axis;
    html("span", "nv-rest", place);
  }
  find(place, "span").textContent = toggles.label;
  find(place, ".nv-toggle-group").ariaLabel = toggles.label;
  find(place, ".nv-rest").textContent = toggles.rest;
  for (const item of toggles.items) showItem(find(place, `[data-axis="${CSS.escape(item.axis)}"]`), item, toggles.rest);
}

/**
 * @param {HTMLElement} place
 * @param {ToggleData} item
 * @param {string} rest
 */
function showItem(place, { axis, name, pressed, groups }, rest) {
  const one = /** @type {HTMLButtonElement} */ (place), many = groups ? ngettext("{n} group", "{n} groups", groups) : "";
  one.textContent = groups ? `${axis.toUpperCase()} / ${groups}` : axis.toUpperCase();
  one.ariaLabel = many ? `${name}: ${many}` : name;
  one.title = many ? _("{name}: {groups}. A press takes the next number of groups.", { name, groups: many }) : name;
  if (groups) one.removeAttribute("aria-pressed");
  else one.ariaPressed = String(pressed);
  one.disabled = Boolean(rest);
}
