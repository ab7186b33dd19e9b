// A tensor whose elements are colored by what they share, below toggles that say over which axes they share it.

import { html, uniqueNumber } from "../../figures/browser/common/dom.ts";
import { bothThemes, groupColorOf } from "../../figures/browser/common/color.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { ToggleRow } from "../../figures/browser/panels/toggles.ts";
import { indexOf, positionOf } from "../../figures/browser/tensor/sharing.ts";
import { combinations, upTo } from "./tensor.ts";

/** What a panel needs to know of its tensor. ``steps``: how each toggle may stand. */
export type ToggledTensor = Pick<SmallTensor, "shape" | "names" | "facets" | "row" | "col"> & { labels: string[], steps: number[][] };

/** ``inverse``: a pressed toggle separates the elements along its axis; ``scale``: of the colors, or the color of each element */
type Options = {
  inverse?: boolean, scale: "groups" | "parameters" | ((position: number) => string),
  onPress: (standing: number[]) => void, onPoint: (position: number | null) => void,
};

export class SharingPanel {
  tensor: ToggledTensor;
  options: Options;
  standing: number[] = [];
  groups: number[] = []; // the number of the group of each element, in row-major order
  cells: HTMLElement[] = [];
  root: HTMLElement;
  head: HTMLElement;
  title: HTMLElement;
  toggles: ToggleRow;
  grid: HTMLElement;
  caption: HTMLElement;

  constructor(parent: HTMLElement, tensor: ToggledTensor, options: Options) {
    this.tensor = tensor;
    this.options = options;
    this.root = html("div", "nv-shared", parent);
    this.head = html("div", "nv-shared-head", this.root);
    this.title = html("span", "", this.head, "", { ariaHidden: "true" }); // the toggles have these words as their name
    this.toggles = new ToggleRow(this.root, tensor, (axis, value) =>
      options.onPress(this.standing.map((one, i) => (i === axis ? value : one))));
    this.grid = html("div", "nv-shared-grid", this.root, "", { role: "img", tabIndex: 0 });
    const foot = html("div", "nv-shared-foot", this.root), { row, col, names } = tensor;
    this.caption = html("p", "", foot, "", { id: `nv-shared-${uniqueNumber()}`, role: "status" });
    html("span", "", foot, `${row === null ? "" : `${names[row].toUpperCase()} ↓ `}${names[col].toUpperCase()} →`);
    this.grid.setAttribute("aria-labelledby", this.caption.id);
    this.addCells();
    this.grid.addEventListener("pointerover", ({ target }) => options.onPoint(this.placeOf(target)));
    for (const end of ["pointerleave", "blur"]) this.grid.addEventListener(end, () => options.onPoint(null));
    this.grid.addEventListener("keydown", (event) => this.move(event));
  }

  /** Says what the toggles choose. */
  name(text: string) {
    this.title.textContent = this.toggles.root.ariaLabel = text;
  }

  placeOf(target: EventTarget | null) {
    const place = this.cells.indexOf(target as HTMLElement);
    return place < 0 ? null : place;
  }

  /** The facets stand side by side; of several axes of facets, the first one goes down. */
  addCells() {
    const { shape, names, facets, row, col } = this.tensor, along = (axis: number | null) => (axis === null ? [0] : upTo(shape[axis]));
    const [down, across] = facets.length > 1 ? [facets[0], facets.slice(1)] : [null, facets], columns = combinations(across.map((axis) => upTo(shape[axis])));
    const place = (axis: number, at: number) => `${names[axis].toUpperCase()} ${at}`;
    this.grid.style.setProperty("--columns", String(columns.length));
    if (across.length) {
      html("span", "", this.grid);
      for (const column of columns) html("span", "nv-shared-name", this.grid, column.map((at, i) => place(across[i], at)).join(" "));
    }
    for (const band of along(down)) {
      html("span", "nv-shared-name", this.grid, down === null ? "" : place(down, band));
      for (const column of columns) {
        const facet = html("div", "nv-shared-facet", this.grid);
        facet.style.setProperty("--columns", String(shape[col]));
        const indexAt = (line: number, at: number) => shape.map((_size, axis) => (axis === col ? at : axis === row ? line : axis === down ? band : column[across.indexOf(axis)]));
        for (const line of along(row)) for (const at of upTo(shape[col])) this.addCell(facet, indexAt(line, at));
      }
    }
  }

  addCell(parent: HTMLElement, index: Index) {
    this.cells[positionOf(index, this.tensor.shape)] = html("i", "", parent);
  }

  /** How many groups there are. */
  get count() {
    return new Set(this.groups).size;
  }

  /** How many elements each group has. */
  get size() {
    return this.cells.length / this.count;
  }

  /** ``standing`` of the toggles; ``isEmpty``: the elements have nothing to share */
  set(standing: number[], isEmpty = false) {
    const { shape, steps } = this.tensor, { inverse, scale } = this.options;
    this.standing = standing;
    this.toggles.show(standing);
    this.groups = groupsOf(standing.map((one, axis) => (inverse ? 1 - one : steps[axis].includes(0) ? one : one % shape[axis])), shape);
    const last = this.count - 1, placeOf = (group: number) => (last ? group / last : 0.5);
    const colorOf = (place: number) => {
      const group = this.groups[place];
      return typeof scale === "function" ? scale(place) : scale === "groups" ? groupColorOf(group) : rampColor(placeOf(group));
    };
    this.cells.forEach((cell, place) => (cell.style.background = isEmpty ? "var(--nv-none)" : colorOf(place)));
  }

  /** Shows who shares with an element; null: nobody is pointed at. */
  point(position: number | null) {
    this.grid.classList.toggle("nv-shared-pointed", position !== null);
    this.cells.forEach((cell, place) => {
      cell.classList.toggle("nv-shared-same", position !== null && this.groups[place] === this.groups[position]);
      cell.classList.toggle("nv-shared-at", place === position);
    });
  }

  /** Arrow keys move along the rows and the columns of the picture. */
  move(event: KeyboardEvent) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { shape, facets, row, col } = this.tensor, at = this.cells.findIndex((cell) => cell.classList.contains("nv-shared-at"));
    const index = at < 0 ? null : indexOf(at, shape);
    const [inner, outer] = way[0] ? [col, facets.at(-1)] : [row, facets.length > 1 ? facets[0] : undefined];
    if (index && inner !== null) step(index, shape, [inner, ...(outer === undefined ? [] : [outer])], way[0] + way[1]);
    this.options.onPoint(index ? positionOf(index, shape) : 0);
  }
}

/** What a reader does with a pair of panels: ``onMeans`` and ``onGamma`` get how the toggles of a panel shall stand. */
type PairOptions = Pick<Options, "onPoint"> & Record<"onMeans" | "onGamma", Options["onPress"]>;

/** Two panels of one tensor: who shares a mean, and who shares a gamma. */
export function addPair(parent: HTMLElement, tensor: ToggledTensor, { onPoint, onMeans, onGamma }: PairOptions) {
  const means = new SharingPanel(parent, tensor, { scale: "groups", onPoint, onPress: onMeans });
  const onOff = { ...tensor, steps: tensor.steps.map(() => [0, 1]) };
  const gamma = new SharingPanel(parent, onOff, { scale: "parameters", inverse: true, onPoint, onPress: onGamma });
  gamma.name(_("own gamma for each"));
  return { means, gamma };
}

/** Moves an index by one along the first of these axes; behind its end, along the next one. At the last end it stays. */
function step(index: Index, shape: number[], [axis, ...rest]: number[], by: number) {
  if (axis === undefined) return false;
  const next = index[axis] + by, isInside = next >= 0 && next < shape[axis];
  if (!isInside && !step(index, shape, rest, by)) return false;
  index[axis] = (next + shape[axis]) % shape[axis];
  return true;
}

/**
 * The number of the group of each element, in row-major order.
 * @param standing for each axis the number of groups along it; 0: one for each index
 */
export function groupsOf(standing: number[], shape: number[]) {
  const counts = shape.map((size, axis) => standing[axis] || size);
  return upTo(shape.reduce((product, size) => product * size, 1)).map((position) =>
    indexOf(position, shape).reduce((group, at, axis) => group * counts[axis] + Math.floor((at * counts[axis]) / shape[axis]), 0));
}

const rampColor = (place: number) => `color-mix(in oklab, ${bothThemes(({ parameters }) => parameters[1])} ${100 * place}%, ${bothThemes(({ parameters }) => parameters[0])})`;
