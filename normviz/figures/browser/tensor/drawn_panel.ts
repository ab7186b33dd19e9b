// The types of a panel, which draws a tensor, and of the view around it, for the modules that both of them import.

import type { SvgList } from "../common/dom.ts";
import type { Geometry } from "./geometry.ts";

/** What other modules use of a panel that has been drawn. */
export interface DrawnPanel {
  key: string;
  view: PanelHost;
  figure: PanelData;
  data: DecodedData;
  colors: Theme;
  scale: ColorScale;
  geometry: Geometry;
  ranks: Map<number, number>; // the rank of each drawn group, by its id
  written: Index[]; // for each text in the cells, an element of its cell or its group
  /** The selected element whose frame the names of groups avoid; null if the cells hold values. */
  beside: { at: Index | null } | null;
  field: HTMLInputElement | null; // the field that edits a value
  editButton: HTMLButtonElement | null;
  left: number;
  top: number;
  under: number; // height of what is written below each line of facets
  dragged: boolean; // slices were moved; no element was clicked
  root: HTMLElement;
  caption: HTMLElement;
  legend: HTMLElement;
  body: HTMLElement;
  plot: HTMLElement;
  svg: SVGSVGElement;
  mutedTexts: SvgList;
  strongTexts: SvgList;
  labels: SvgList;
  momentsText: SVGTextElement;
  outline?: SVGPathElement; // undefined in a cube, which stands in a row of panels
  outlineHalo?: SVGPathElement;
  readonly isId: boolean; // it shows the ids of groups, no values
  readonly sharing: Tabled<Sharing & Partial<Statistics>> | null;
  readonly range: Pick<PanelData, "scale" | "groups" | "low" | "high">;
  set(figure: PanelData, data: DecodedData): void;
  draw(width: number, height: number, colors: Theme): void;
  each(visit: (index: Index) => void): void;
  valueAt(index: Index): number;
  colorOf(index: Index): RGB | null;
  heatmap(columnCells: number[], rowCells: number[]): Float32Array[];
  tables(): number[][] | null;
  pointOf(event: MouseEvent): [number, number];
}

/** What a term lights: "mean", "gamma", ... of an element; of the active one without ``at``. */
export type Light = { word: string; at: Index | null };

/** The elements that a term lights: those that share a mean, those that share a gamma, or one element. */
export function litBy({ word }: Light) {
  if (word === "gamma" || word === "beta") return "params";
  return word === "mean" || word === "var" || word === "eps" ? "stats" : "x";
}

/** What a panel needs of the view that shows it. */
export interface PanelHost extends ValueSource {
  root: HTMLElement;
  readoutId: string;
  panels: Map<string, DrawnPanel>;
  slices: { move(axis: number, first: number): void; send(): void };
  pointed: Index | null; // the element under the pointer
  cursor: Index | null; // the element under the keyboard cursor
  at: Index | null; // the selected element
  readonly active: Index | null;
  height?: number; // of its panels, on a projector
  lit: Light | null; // what a term lights
  under: DrawnPanel | null; // the panel that the pointer or the keyboard cursor is in
  hover(index: Index | null, panel?: DrawnPanel): void;
  select(index: Index | null, panel?: DrawnPanel): void;
  edit(index: Index, start?: string): void;
  blur(): void;
  /** Presses a toggle of the row "mean" or "gamma"; ``by``: fewer (-1) or more groups. */
  toggle(row: string, axis: string, by?: number): void;
  follow(): void;
  announce(message: string): void;
}
