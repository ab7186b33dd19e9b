// The elements of a tensor as buttons, which a reader marks: one by one, by dragging with a mouse, or a row, a column, a facet or all
// facets of a band by their header. Arrow keys move between the buttons, Space and Enter press them.

import { button, html } from "../../figures/browser/common/dom.ts";
import { formatElement } from "../../figures/browser/common/format.ts";
import { _, betweenParts } from "../../figures/browser/common/messages.ts";
import { showKeys } from "../../figures/browser/speaking/dialogs.ts";
import { groupOf, positionOf, sameIndex, tablesOf } from "../../figures/browser/tensor/sharing.ts";
import { combinations, upTo } from "./tensor.ts";

type MarkedCell = { index: Index; root: HTMLElement; marked: boolean };

const MOST_ACROSS = 7; // cells side by side on a phone

export class Marking {
  cells: MarkedCell[] = []; // in row-major order
  isRevealed = false; // after ``close`` or ``reveal``, nothing can be marked any more
  /** A mouse is dragging, and marks or unmarks. */
  drag: { cell: MarkedCell, marked: boolean, moved: boolean } | null = null;
  task: MarkingTask;
  onChange;
  root: HTMLDivElement;

  /** ``onChange``: a mark has changed */
  constructor(parent: HTMLElement, task: MarkingTask, { onChange = () => {} }: { onChange?: (marking: Marking) => void } = {}) {
    this.task = task;
    this.onChange = onChange;
    this.root = html("div", "nv-marking", parent);
    const { shape, facets, col } = task, columns = shape[col];
    const inBand = facets.slice(facets.length > 1 ? 1 : 0).reduce((product, axis) => product * shape[axis], 1);
    this.root.style.setProperty("--nv-columns", String(columns));
    const lines = Math.ceil(inBand / Math.max(1, Math.floor(MOST_ACROSS / columns))), across = Math.ceil(inBand / lines);
    this.root.style.setProperty("--nv-across", String(across));
    this.root.classList.toggle("nv-marking-side", across > 1); // facets side by side on a phone have short headers
    this.addBands();
    this.cells.sort((a, b) => a.index.map((at, axis) => at - b.index[axis]).find(Boolean) ?? 0);
    this.root.querySelector("button.nv-marking-cell")?.setAttribute("tabindex", "0");
    this.listen();
  }

  /** The marked elements, in row-major order, without the framed one. */
  get marked() {
    return this.cells.filter(({ marked }) => marked).map(({ index }) => index);
  }

  /** The elements that share with the framed one, in row-major order, without it. */
  get answer() {
    const { shape, axes, at } = this.task, grid = { shape, facets: [], row: null, col: 0, indices: shape.map(upTo), across: 1 };
    const tables = tablesOf(axes, grid), group = groupOf(tables, at);
    return this.cells.map(({ index }) => index).filter((index) => groupOf(tables, index) === group && !sameIndex(index, at));
  }

  /** ``indices``: the only elements that are marked from now on */
  mark(indices: Index[]) {
    for (const cell of this.cells) this.setMarked(cell, indices.some((index) => sameIndex(index, cell.index)));
  }

  /** ``indices``: the only elements that look wrong */
  showWrong(indices: Index[]) {
    for (const { index, root } of this.cells) root.setAttribute("aria-invalid", String(indices.some((one) => sameIndex(one, index))));
  }

  /** Nothing can be marked from now on. */
  close() {
    this.isRevealed = true;
    this.root.classList.add("nv-revealed");
    for (const { root } of this.cells) root.setAttribute("aria-disabled", "true");
  }

  /** Shows which marks are right, which are extra and what is missing, and returns how many of each. */
  reveal(answer: Index[] = this.answer) {
    const counts = { right: 0, extra: 0, missing: 0 };
    const words: Record<string, string> = { right: _("right"), extra: _("extra"), missing: _("missing") };
    this.close();
    for (const { index, root, marked } of this.cells) {
      const belongs = answer.some((other) => sameIndex(index, other));
      const result = marked ? (belongs ? "right" : "extra") : belongs ? "missing" : "";
      if (!result) continue;
      counts[result as keyof typeof counts]++;
      root.dataset.result = result;
      root.setAttribute("aria-label", root.getAttribute("aria-label") + betweenParts() + words[result]);
    }
    return counts;
  }

  addBands() {
    const { shape, facets } = this.task;
    if (facets.length < 2) this.addFacets(this.root, new Map(), facets);
    else
      for (const at of upTo(shape[facets[0]])) {
        const band = html("div", "nv-marking-band", this.root), fixed = new Map([[facets[0], at]]);
        this.addHeader(band, "nv-marking-name", fixed);
        this.addFacets(band, fixed, facets.slice(1));
      }
  }

  /** ``band``: the index along the axis of the bands, if there are any; ``axes`` number the facets */
  addFacets(parent: HTMLElement, band: Map<number, number>, axes: number[]) {
    const line = html("div", "nv-marking-facets", parent), facets = combinations(axes.map((axis) => upTo(this.task.shape[axis])));
    for (const facet of facets) this.addFacet(line, new Map([...band, ...facet.map((at, number) => [axes[number], at] as const)]), axes);
  }

  /** ``facet``: the index along each axis that the facet does not show; ``named``: the axes in its heading */
  addFacet(parent: HTMLElement, facet: Map<number, number>, named: number[]) {
    const { shape, row, col } = this.task, root = html("div", "nv-marking-facet", parent);
    if (named.length) this.addHeader(root, "nv-marking-name", facet, named);
    const grid = html("div", "nv-marking-grid", root);
    grid.role = "grid";
    grid.ariaMultiSelectable = "true";
    grid.ariaLabel = facet.size ? this.nameOf(facet) : "x";
    if (shape[col] > 1 || row !== null) this.addColumnHeads(grid, facet);
    for (const at of row === null ? [null] : upTo(shape[row])) {
      const line = html("div", "nv-marking-row", grid), inLine = row === null || at === null ? facet : new Map([...facet, [row, at]]);
      line.role = "row";
      this.addHeader(addHead(line, "rowheader"), "nv-marking-head", inLine, row === null ? [] : [row]);
      for (const column of upTo(shape[col])) this.addCell(line, shape.map((_size, axis) => inLine.get(axis) ?? column));
    }
  }

  addColumnHeads(grid: HTMLElement, facet: Map<number, number>) {
    const { shape, col } = this.task, line = html("div", "nv-marking-row", grid);
    line.role = "row";
    html("span", "nv-marking-corner", line).role = "presentation";
    for (const column of upTo(shape[col])) this.addHeader(addHead(line, "columnheader"), "nv-marking-head", new Map([...facet, [col, column]]), [col]);
  }

  /**
   * A button that marks all elements with these indices, or unmarks them if all are marked.
   * @param named the axes in its text
   */
  addHeader(parent: HTMLElement, className: string, fixed: Map<number, number>, named: number[] = [...fixed.keys()]) {
    if (!named.length) return;
    const root = button(className, parent, "", () => this.toggleAll(fixed));
    for (const axis of named) {
      html("span", "nv-marking-axis", root, `${root.textContent ? ", " : ""}${this.task.names[axis]} = `);
      root.append(String(fixed.get(axis)));
    }
    root.tabIndex = -1;
    root.ariaLabel = _("all with {indices}", { indices: this.nameOf(fixed) });
  }

  nameOf(fixed: Map<number, number>) {
    return [...fixed].map(([axis, at]) => `${this.task.names[axis]} = ${at}`).join(", ");
  }

  addCell(parent: HTMLElement, index: Index) {
    const { shape, texts = [], at } = this.task, place = positionOf(index, shape);
    const root = button("nv-marking-cell", parent, texts[place] ?? "", () => this.pressed(cell)), cell = { index, root, marked: false };
    const name = formatElement("x", index), isFramed = sameIndex(index, at);
    root.role = "gridcell";
    root.tabIndex = -1;
    root.ariaLabel = [name, ...(texts[place] ? [texts[place]] : []), ...(isFramed ? [_("framed")] : [])].join(betweenParts());
    root.classList.toggle("nv-marking-framed", isFramed);
    if (this.isFixed(index)) root.setAttribute("aria-disabled", "true");
    else root.setAttribute("aria-selected", "false");
    this.cells.push(cell);
  }

  listen() {
    this.root.addEventListener("keydown", (event) => this.moveFocus(event));
    this.root.addEventListener("focusin", ({ target }) => {
      for (const other of this.root.querySelectorAll("button")) other.tabIndex = other === target ? 0 : -1;
    });
    this.root.addEventListener("pointerdown", ({ target, pointerType }) => {
      const cell = this.cells.find(({ root }) => root === target);
      this.drag = cell && pointerType !== "touch" ? { cell, marked: !cell.marked, moved: false } : null; // fingers scroll
    });
    this.root.addEventListener("pointerover", ({ target, buttons }) => {
      const cell = this.cells.find(({ root }) => root === target);
      if (!this.drag || !cell || cell === this.drag.cell) return;
      if (!(buttons & 1)) this.drag = null;
      else this.paint(this.drag, cell);
    });
  }

  pressed(cell: MarkedCell) {
    const wasDragged = this.drag?.moved;
    this.drag = null;
    if (wasDragged || this.isRevealed) return;
    this.setMarked(cell, !cell.marked);
    this.onChange(this);
  }

  paint(drag: NonNullable<Marking["drag"]>, cell: MarkedCell) {
    if (this.isRevealed) return;
    drag.moved = true;
    for (const one of [drag.cell, cell]) this.setMarked(one, drag.marked);
    this.onChange(this);
  }

  isFixed(index: Index) {
    return !this.task.itself && sameIndex(index, this.task.at);
  }

  toggleAll(fixed: Map<number, number>) {
    if (this.isRevealed) return;
    const cells = this.cells.filter(({ index }) => [...fixed].every(([axis, at]) => index[axis] === at) && !this.isFixed(index));
    const marked = !cells.every((cell) => cell.marked);
    for (const cell of cells) this.setMarked(cell, marked);
    this.onChange(this);
  }

  /** ``cell``: the framed one stays as it is, unless it may be marked itself */
  setMarked(cell: MarkedCell, marked: boolean) {
    if (this.isFixed(cell.index)) return;
    cell.marked = marked;
    cell.root.setAttribute("aria-selected", String(marked));
  }

  /** Arrow keys move the focus; a question mark lists the keys. */
  moveFocus(event: KeyboardEvent) {
    const { target, key, ctrlKey, metaKey, altKey } = event, at = target as HTMLElement;
    if (key === "?") showKeys((this.root.closest(".nv-doc") ?? this.root.parentElement) as HTMLElement, () => at.focus());
    if (!key.startsWith("Arrow") || ctrlKey || metaKey || altKey) return;
    nearest(at, [...this.root.querySelectorAll("button")], key)?.focus();
    event.preventDefault();
  }
}

function addHead(line: HTMLElement, role: "rowheader" | "columnheader") {
  const head = html("span", "", line, "", { role });
  return head;
}

// Where an arrow key leads among buttons that are arranged in two dimensions.

const DIRECTIONS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ASIDE = 3; // a step aside counts as much as three ahead

/** The nearest of the elements in the direction of an arrow key; undefined if there is none. */
function nearest<Element extends HTMLElement>(from: HTMLElement, elements: Element[], key: string) {
  const [dx, dy] = DIRECTIONS[key], start = middleOf(from);
  let found: Element | undefined;
  let least = Infinity;
  for (const element of elements) {
    const { x, y } = middleOf(element), [right, down] = [x - start.x, y - start.y];
    const ahead = right * dx + down * dy, aside = Math.abs(right * dy) + Math.abs(down * dx);
    if (element === from || ahead <= 1 || aside > 2 * ahead) continue;
    if (ahead + ASIDE * aside < least) [found, least] = [element, ahead + ASIDE * aside];
  }
  return found;
}

function middleOf(element: HTMLElement) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}
