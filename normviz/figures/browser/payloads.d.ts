// Made by tools/payload_types.py from the dataclasses of Python. Do not edit it.

/** CSS colors. */
interface Theme {
  background: string;
  card: string;
  text: string;
  muted: string;
  border: string;
  accent: string; // the selected element, and nothing else
  veil: string; // over the elements that do not share with the selected one
  ink: [string, string]; // text on cells: dark or light, whichever has more contrast
  few: string[]; // statistics groups 0 to 7; dark text is readable on each (based on Paul Tol's "light" scheme)
  more: string[]; // statistics groups 8 to 15, darker; the colors of further groups repeat both
  parameters: string[]; // the ends of a ramp for parameter groups
  values: string[]; // a ramp from negative values through zero to positive ones
  none: string; // cells of a layer without parameters
  group: string; // the words of a programming language
}

/** How the tensor is drawn: facets of rows and columns, at the drawn ``indices`` of each axis. */
interface GridData {
  shape: number[];
  facets: number[];
  row: number | null;
  col: number;
  indices: number[][];
  across: number; // the number of facets side by side
}

/** An index along ``name`` follows from an index of x: ``x[axis] // divide % modulo``. */
interface NamedAxis {
  name: string;
  axis: number;
  divide: number;
  modulo: number;
}

/** Which elements share a mean and a variance: the group of an element is its index along ``axes``. */
interface Statistics {
  count: number;
  size: number; // the elements of a group
  axes: NamedAxis[];
  center: boolean;
  running: boolean;
}

/** Which elements share a gamma and a beta: the group of an element is its index along ``axes``. */
interface GammaAndBeta {
  axes: NamedAxis[];
  bias: boolean;
  zero_centered_gamma: boolean;
  size: number; // the elements of a group
}

/** A layer, and the query of its view in Explore. */
interface NearLayer {
  name: string;
  query: string;
}

/** One button: an axis, whether it is pressed, and for the channels of GroupNorm, the number of groups. */
interface AxisToggle {
  axis: string;
  name: string;
  pressed: boolean;
  groups: number;
}

/** A row of toggles in the title of a panel. */
interface Toggles {
  label: string;
  items: AxisToggle[];
  rest: string; // why it is at rest, or ""
  said?: string; // that torch has no such layer
  near?: NearLayer[]; // layers of torch that have the same means
}

/** One heatmap. */
interface PanelData {
  pattern: string;
  z: PackedArray | null; // the values of the drawn elements; None if the cells are ids, which follow from ``links``
  groups: number; // the number of groups if the cells are ids, else 0
  key: string;
  title: string;
  caption: string;
  low: number; // the value at the lower end of the scale
  high: number; // the value at the upper end of the scale
  scale: "groups" | "parameters" | "values" | "none" | "cube";
  links: string; // the kind of sharing whose peers the panel outlines: "stats", "params" or ""
  row?: string; // the row of panels that it belongs to
  toggles?: Toggles;
}

/** The values that a step of the forward pass makes. */
interface StepData extends PanelData {
  z: PackedArray;
  why: string;
}

/** Which axes of the drawn window are examples (n), channels (c) and positions (s), and how many bricks each has. */
interface Box {
  example: number | null; // the number of the axis; None if x has no such axis
  channel: number | null; // the number of the axis; None if x has no such axis
  rest: number[]; // the axes of the positions; the last one varies fastest
  whole: [number, number, number]; // the number of bricks along n, c and s in the window
  drawn: [number, number, number]; // the number of bricks along n, c and s that are drawn
  names: [string, string, string]; // the labels of n, c and s
}

/** A cube of bricks in the colors of the groups. */
interface CubePanel {
  key: string;
  links: string;
  title: string;
  row: "cube";
  scale: "cube";
  box: Box;
}

/** The mean and the variance of each group, at one stage of the forward pass. */
interface MomentsData {
  mean: PackedArray;
  var: PackedArray;
}

/** How many values are in each of as many bins of the same width as there are counts. */
interface Histogram {
  low: number; // the lower end of the first bin
  high: number; // the upper end of the last bin
  counts: number[];
}

/** The values of the selected group of a tensor that is not drawn whole, by stage: "x", "normalized", "output". */
interface GroupData {
  id: number; // the number of the group
  count: number; // the number of values; of a sample, they are fewer than the group has
  elements: number[][]; // the index of each value, if there are few
  values: Record<string, PackedArray>; // of each stage, if there are few
  bins: Record<string, Histogram>; // of each stage, if there are many
}

/** Mean, variance, gamma and beta as they broadcast over the drawn elements, and eps. */
interface LayerValues {
  mean: PackedArray;
  var: PackedArray;
  gamma?: PackedArray;
  beta?: PackedArray;
  eps: number;
}

/** A number of the layer. */
interface Count {
  label: string;
  value: string;
  note: string;
}

/** A layer of a comparison. */
interface LayerName {
  name: string;
}

/** The forward pass as loops. ``runs``: the variables that run over the elements of a group. */
interface Loops {
  code: string;
  runs: NamedAxis[];
}

/** What all figures of panels have that show one tensor. */
interface Linked {
  kind: string;
  axes: string[];
  grid: GridData;
  panels: (PanelData | CubePanel)[];
  values: LayerValues | null;
  group?: GroupData; // the values of its group, if x is not drawn whole
  computed?: number[]; // the ids of the groups whose means and variances are known; left out: of all
  at: number[] | null; // the selected element
  editable: boolean;
}

/** A layer, and which elements share its statistics and its parameters. */
interface LinkedLayer extends Linked {
  panels: PanelData[];
  layer: string;
  stats: Statistics;
  params: GammaAndBeta | null;
}

/** A part of the whole formula. */
interface Token {
  text: string;
  steps: string[]; // the keys of the steps that it belongs to
  symbol: string; // the part of ``text`` that stands for a number: "gamma" in " · gamma"
  number: string; // the name of this number: "gamma"
}

/** The figure of Explore. */
interface ViewPayload extends LinkedLayer {
  kind: "view";
  moments: Record<string, MomentsData> | null; // of each stage; None without values
  formula: Token[];
  loops: Loops;
  facts: Count[];
  scaled: boolean; // every gamma and beta has the value that the reader chose
  open?: string[]; // the parts that are opened: "values", "worked"
  hidden?: string[];
}

/** Values of x's shape. */
interface ValuesPayload extends LinkedLayer {
  kind: "values";
  name: string; // the name of the tensor
  of_element?: boolean; // the numbers belong to the selected element
  square?: boolean; // the cells are as wide as high
  hidden?: string[];
}

/** The forward pass in steps. */
interface StepsPayload extends LinkedLayer {
  kind: "steps";
  moments: Record<string, MomentsData> | null;
  groups: PanelData; // beside x, which no step comes before
  formula: Token[];
  loops: Loops;
  step: number; // the number of the step that is shown first
  scaled: boolean;
  hidden?: string[];
}

/** Several layers on one tensor. */
interface ComparePayload extends Linked {
  kind: "compare";
  sharings: Record<string, Statistics | GammaAndBeta | null>;
  layers: LayerName[];
  cards: "mean" | "gamma" | "cube"; // what is drawn of each layer first
  differs?: string[]; // the sharings of a function and of the layer that it should be: where they differ, elements are marked
  hidden?: string[];
}

/** Plotly's traces and layout, and what the chart shows in a sentence. */
interface ChartFigure {
  data: boolean | number | string | unknown[] | Record<string, unknown> | null;
  layout: boolean | number | string | unknown[] | Record<string, unknown> | null;
  alt: string;
}

/** A line or bar chart. */
interface ChartPayload {
  kind: "chart";
  figure: ChartFigure;
}
