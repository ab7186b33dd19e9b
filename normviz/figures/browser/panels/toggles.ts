// The toggles in the title of a panel: one button for each axis, pressed where the mean is taken over it, or where gamma has its own value
// along it. Channels in groups have two buttons, for fewer and more groups.

import { appOfFile } from "../common/app.ts";
import { button, find, html } from "../common/dom.ts";
import { _, betweenParts, betweenSentences, ngettext } from "../common/messages.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

/** The name of a press in a file. */
export const pressOf = ({ row, axis, by = 1 }: { row: string, axis: string, by?: number }) => `${row} ${axis} ${by}`;

/** Writes the toggles into the title, or leaves the title as it is where nobody answers them. Buttons stay, because a reader may be using one. */
export function drawToggles(panel: DrawnPanel & { title: HTMLElement, toggles: ToggleRow | null }) {
  const { figure: { toggles, key, title }, title: place, data } = panel, shown = toggles && !data.alone, row = key === "stats" ? "mean" : "gamma";
  place.classList.toggle("nv-toggles", Boolean(shown));
  if (!shown) return place.replaceChildren(title);
  const { items, label, rest, said, near = [] } = toggles, names = items.map(({ axis }) => axis);
  const labels = items.map(({ name }) => name), steps = items.map(({ groups }) => (groups ? [] : [0, 1]));
  if (place.dataset.axes !== JSON.stringify([names, steps]) || !panel.toggles) {
    place.dataset.axes = JSON.stringify([names, steps]);
    place.replaceChildren();
    html("span", "", place, "", { ariaHidden: "true" }); // the group has these words as its name
    panel.toggles = new ToggleRow(place, { names, labels, steps }, (axis, value) =>
      panel.view.toggle(row, names[axis], steps[axis].length ? 1 : value));
    html("span", "nv-rest", place);
  }
  find(place, "span").textContent = panel.toggles.root.ariaLabel = label;
  panel.toggles.show(items.map(({ pressed, groups }) => groups || Number(pressed)));
  let isMissing = false; // a file does not have every position
  for (const { root, axis, value } of panel.toggles.buttons) {
    const missing = data.presses && !(pressOf({ row, axis: names[axis], by: steps[axis].length ? 1 : value }) in data.presses);
    root.disabled = Boolean(rest || missing);
    isMissing ||= Boolean(missing);
  }
  const remark = find(place, ".nv-rest"), address = !rest && isMissing && appOfFile();
  remark.replaceChildren(rest);
  if (address) html("a", "nv-app-link", remark, _("Others in the app")).setAttribute("href", address);
  if (said) writeNearest(remark, said, data.presses ? [] : near);
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

/** A toggle for each axis, and one for each number of groups into which an axis may be split, or two for fewer and more groups. */
export class ToggleRow {
  root: HTMLElement;
  labels: string[];
  names: string[];
  steps: number[][];
  buttons: { root: HTMLButtonElement, axis: number, value: number }[] = [];

  /**
   * @param steps how each toggle may stand: 1, where the axis is pressed; the numbers of groups; 0, or the size of the axis, where nothing is pressed;
   * none: it is split into any number of groups
   * @param press with the axis, and how its toggle is to stand; 1 or -1 for more or fewer groups
   */
  constructor(parent: HTMLElement, { names, labels, steps }: { names: string[], labels: string[], steps: number[][] }, press: (axis: number, value: number) => void) {
    Object.assign(this, { names, labels, steps });
    this.root = html("div", "nv-toggle-group", parent, "", { role: "group" });
    const add = (place: HTMLElement, axis: number, value: number, text: string, label: string, off?: number) => {
      const pressed = (): void => press(axis, off !== undefined && root.ariaPressed === "true" ? off : value);
      const root = button("nv-toggle", place, text, pressed) as HTMLButtonElement;
      root.ariaLabel = label;
      root.dataset.axis = names[axis];
      this.buttons.push({ root, axis, value });
      return root;
    };
    steps.forEach((possible, axis) => {
      const letter = names[axis].toUpperCase(), label = labels[axis], off = possible.includes(0) ? 0 : Math.max(...possible);
      for (const value of possible.filter((one) => one !== off || one === 1)) {
        const one = add(this.root, axis, value, value > 1 ? `${letter}/${value}` : letter, value > 1 ? inGroups(label, value) : label, off);
        one.title = one.ariaLabel as string;
      }
      if (possible.length) return;
      const pair = html("span", "nv-group-steps", this.root);
      add(pair, axis, -1, "−", "");
      html("span", "", pair);
      add(pair, axis, 1, "+", "");
    });
  }

  show(standing: number[]) {
    for (const { root, axis, value } of this.buttons) {
      if (this.steps[axis].length) root.ariaPressed = String(standing[axis] === value);
      else {
        const pair = root.parentElement as HTMLElement;
        pair.title = inGroups(this.labels[axis], standing[axis]);
        find(pair, "span").textContent = `${this.names[axis].toUpperCase()} / ${standing[axis]}`;
        root.ariaLabel = `${pair.title}; ${value < 0 ? _("fewer groups") : _("more groups")}`;
      }
    }
  }
}

/** An axis in groups, in words. */
const inGroups = (label: string, n: number) => `${label}: ${ngettext("{n} group", "{n} groups", n)}`;
