// The toggles in the title of a panel: one button for each axis, pressed where the mean is taken over it, or where gamma has its own value
// along it. Channels in groups have two buttons, for fewer and more groups.

import { appOfFile } from "../common/app.ts";
import { button, find, findAll, html } from "../common/dom.ts";
import { _, betweenParts, betweenSentences, ngettext } from "../common/messages.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

/** The name of a press in a file. */
export const pressOf = ({ row, axis, by = 1 }: { row: string, axis: string, by?: number }) => `${row} ${axis} ${by}`;

/** Writes the toggles into the title, or leaves the title as it is where nobody answers them. Buttons stay, because a reader may be using one. */
export function drawToggles(panel: DrawnPanel & { title: HTMLElement }) {
  const { figure: { toggles, key, title }, title: place, data } = panel, shown = toggles && !data.alone, row = key === "stats" ? "mean" : "gamma";
  place.classList.toggle("nv-toggles", Boolean(shown));
  if (!shown) return place.replaceChildren(title);
  const axes = toggles.items.map(({ axis, groups }) => (groups ? `${axis}/` : axis)).join();
  if (place.dataset.axes !== axes || !place.querySelector("button")) {
    place.dataset.axes = axes;
    place.replaceChildren();
    html("span", "", place);
    const group = html("span", "nv-toggle-group", place);
    group.setAttribute("role", "group");
    for (const item of toggles.items) makeItem(group, item, (by) => panel.view.toggle(row, item.axis, by));
    html("span", "nv-rest", place);
  }
  find(place, "span").textContent = toggles.label;
  find(place, ".nv-toggle-group").ariaLabel = toggles.label;
  let isMissing = false; // a file does not have every position
  for (const item of toggles.items) {
    const buttons = showItem(find(place, `[data-axis="${CSS.escape(item.axis)}"]`), item);
    buttons.forEach((one, number) => {
      const missing = data.presses && !(pressOf({ row, axis: item.axis, by: item.groups ? 2 * number - 1 : 1 }) in data.presses);
      one.disabled = Boolean(toggles.rest || missing);
      isMissing ||= Boolean(missing);
    });
  }
  const rest = find(place, ".nv-rest"), address = !toggles.rest && isMissing && appOfFile();
  rest.replaceChildren(toggles.rest);
  if (address) html("a", "nv-app-link", rest, _("Others in the app")).setAttribute("href", address);
  if (toggles.said) writeNearest(rest, toggles.said, data.presses ? [] : (toggles.near ?? []));
}

/** That torch has no such layer, and links to layers of torch with the same means. */
function writeNearest(place: HTMLElement, said: string, near: NearLayer[]) {
  const [before, after] = _("Same means: {layers}").split("{layers}");
  place.append(said);
  if (!near.length) return;
  place.append(betweenSentences(), before);
  near.forEach(({ name, query }, number) => {
    if (number) place.append(betweenParts());
    Object.assign(html("a", "nv-go", place, name, { href: `explore${query}` }).dataset, { page: "explore", query });
  });
  place.append(after);
}

/** The button of an axis, or the two of channels in groups, without texts. ``by``: 1 for more groups, -1 for fewer. */
export function makeItem(group: HTMLElement, { axis, groups }: { axis: string, groups: number }, press: (by?: number) => void) {
  const made = (parent: HTMLElement, text: string, by?: number): HTMLElement => button("nv-toggle", parent, text, () => press(by));
  const one = groups ? html("span", "nv-group-steps", group) : made(group, "");
  if (groups) one.append(made(one, "−", -1), html("span", "", null), made(one, "+", 1));
  one.dataset.axis = axis;
  return one;
}

/** @returns its buttons */
export function showItem(place: HTMLElement, { axis, name, pressed, groups }: AxisToggle) {
  const letter = axis.toUpperCase(), buttons = (groups ? findAll(place, "button") : [place]) as HTMLButtonElement[];
  place.title = groups ? `${name}: ${ngettext("{n} group", "{n} groups", groups)}` : name;
  if (groups) {
    find(place, "span").textContent = `${letter} / ${groups}`;
    [_("fewer groups"), _("more groups")].forEach((what, number) => (buttons[number].ariaLabel = `${place.title}; ${what}`));
  } else {
    place.textContent = letter;
    place.ariaLabel = name;
    place.ariaPressed = String(pressed);
  }
  return buttons;
}

/** A toggle for each axis, and one for each number of groups into which an axis may be split. */
export class ToggleRow {
  root: HTMLElement;
  buttons: { root: HTMLButtonElement, axis: number, value: number }[] = [];

  /**
   * @param steps how each toggle may stand: 1, where the axis is pressed; the numbers of groups; 0, or the size of the axis, where nothing is pressed
   * @param press with the axis, and how its toggle is to stand
   */
  constructor(parent: HTMLElement, { names, labels, steps }: { names: string[], labels: string[], steps: number[][] }, press: (axis: number, value: number) => void) {
    this.root = html("div", "nv-toggle-group", parent, "", { role: "group" });
    steps.forEach((possible, axis) => {
      const off = possible.includes(0) ? 0 : Math.max(...possible);
      for (const value of possible.filter((one) => one !== off || one === 1)) {
        const letter = names[axis].toUpperCase(), root = button("nv-toggle", this.root, value > 1 ? `${letter}/${value}` : letter, () => press(axis, root.ariaPressed === "true" ? off : value)) as HTMLButtonElement;
        root.title = root.ariaLabel = value > 1 ? `${labels[axis]}: ${ngettext("{n} group", "{n} groups", value)}` : labels[axis];
        root.dataset.axis = names[axis];
        this.buttons.push({ root, axis, value });
      }
    });
  }

  show(standing: number[]) {
    for (const { root, axis, value } of this.buttons) root.ariaPressed = String(standing[axis] === value);
  }
}
