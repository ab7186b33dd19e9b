// Types of the data that Python sends, and of what the browser modules share. Read by the type checker alone.

/** One integer per axis: an index of the tensor, or a position among the drawn indices. */
type Index = number[];
type Mode = "light" | "dark";
/** Plotly's form: positions from 0 to 1, each with its color. */
type ColorScale = [number, string][];
type RGB = number[];
/** Text, or text in code or bold type. */
type Word = string | { code: string } | { strong: string };
/** A part of the read-out line. */
type Phrase = Word[];
type Values = Record<string, string | number>;

interface Colors {
  background: string;
  card: string;
  text: string;
  muted: string;
  faint: string;
  border: string;
  accent: string;
  veil: string;
  hatch: string;
  group: string;
  none: string;
  ink: string[];
  few: string[];
  more: string[];
  parameters: string[];
  values: string[];
}

/** Little-endian float32 in base64; ``values`` instead of ``data`` for numbers that the browser computed. */
interface PackedArray {
  shape: number[];
  data: string;
  values?: Float32Array;
}

interface FloatArray {
  shape: number[];
  values: Float32Array;
}

/** How the tensor is drawn: facets of rows and columns, at the drawn ``indices`` of each axis. */
interface GridData {
  shape: number[];
  facets: number[];
  row: number | null;
  col: number;
  indices: number[][];
  across: number;
}

/** An index along ``name`` follows from an index of x: ``x[axis] // divide % modulo``. */
interface NamedAxis {
  name: string;
  axis: number;
  divide: number;
  modulo: number;
}

/** Which elements share a value: the group of an element is its index along ``axes``. */
interface Sharing {
  axes: NamedAxis[];
  /** Elements per group. */
  size: number;
}

interface Statistics extends Sharing {
  count: number;
  center: boolean;
  running: boolean;
}

interface GammaAndBeta extends Sharing {
  bias: boolean;
  /** The layer multiplies by 1 + gamma. */
  zero_centered_gamma: boolean;
}

/** With tables for the drawn indices: the group of an element, as a number, is the sum of one entry per axis. */
type Tabled<S extends Sharing> = S & { tables: number[][] };

/** A part of the whole formula; ``symbol`` in it stands for the number called ``number``. */
interface FormulaToken {
  text: string;
  steps: string[];
  symbol: string;
  number: string;
}

/** The mean and the variance of each group, at one stage of the forward pass. */
interface Moments<Packed> {
  mean: Packed;
  var: Packed;
}

interface Box {
  example: number | null;
  channel: number | null;
  rest: number[];
  whole: [number, number, number];
  drawn: [number, number, number];
  names: [string, string, string];
}

/** One panel: a heatmap, a step of the forward pass, or a cube. */
interface PanelData {
  key: string;
  title: string;
  pattern: string;
  caption: string;
  z: PackedArray | null;
  low: number;
  high: number;
  scale: "groups" | "parameters" | "values" | "none" | "cube";
  groups: number;
  links: string;
  row?: string;
  toggles?: TogglesData;
}

/** A row of toggles in the title of a panel; ``rest``: why it is at rest, or "". */
interface TogglesData {
  label: string;
  items: ToggleData[];
  rest: string;
}

/** ``groups``: the number of groups of the channels, or 0. */
interface ToggleData {
  axis: string;
  name: string;
  pressed: boolean;
  groups: number;
}

interface CubeData extends PanelData {
  box: Box;
}

interface StepData extends PanelData {
  why: string;
  z: PackedArray;
}

interface Count {
  label: string;
  value: string;
  note: string;
}

/** What every figure has. */
interface FigureData {
  kind: "view" | "compare" | "steps" | "values" | "chart" | "training";
  theme?: Mode | null;
  plotly?: string;
  integrity?: string;
  /** It sends nothing to a server. */
  alone?: boolean;
  /** The parts that are opened: "values", "worked". */
  open?: string[];
  /** Its numbers belong to the selected element. */
  of_element?: boolean;
  /** Its cells are as wide as high. */
  square?: boolean;
  hidden?: string[];
  save?: boolean;
  layer?: string;
  layers?: { name: string }[];
  params?: GammaAndBeta | null;
  grid?: GridData;
  /** In a file: the first slices that the reader has chosen; null: as in the grid. */
  start?: number[] | null;
}

interface ViewData extends FigureData {
  axes: string[];
  grid: GridData;
  stats: Statistics;
  params: GammaAndBeta | null;
  sharings?: Record<string, Sharing | null>;
  /** The sharings of a function and of the layer that it should be: where they differ, elements are marked. */
  differs?: string[];
  panels: PanelData[];
  values: Record<string, PackedArray> & { eps: number } | null;
  moments?: Record<string, Moments<PackedArray>> | null;
  facts?: Count[];
  at: Index | null;
  turn?: number;
  editable: boolean;
  /** Every gamma and beta has the value that the reader chose. */
  scaled?: boolean;
  /** In a file: the gamma and beta that the reader chose. */
  choice?: GammaBetaChoice | null;
  /** In a file: x could be edited, but nothing computes the results. */
  fixed?: boolean;
  /** In a file: the toggles that it has a view for, by row, axis and step. */
  presses?: Record<string, number>;
  name?: string;
  formula?: FormulaToken[];
  /** Beside x, which no step comes before. */
  groups?: PanelData;
  loops?: { code: string; runs: { name: string; size: number }[] };
  step?: number;
  cards?: Cards;
}

/** What a comparison draws of each layer: who shares a mean, who shares a gamma, or the group of the mean in a cube. */
type Cards = "mean" | "gamma" | "cube";

interface DecodedValues {
  eps: number;
  mean: FloatArray;
  var: FloatArray;
  gamma?: FloatArray;
  beta?: FloatArray;
}

/** The data of a view with its arrays decoded, and tables of groups for the drawn elements; the values come from ``sent``. */
interface DecodedData extends Omit<ViewData, "values" | "moments" | "stats" | "params" | "sharings"> {
  values: DecodedValues | null;
  moments: Record<string, Moments<FloatArray>> | null;
  stats: Tabled<Statistics>;
  params: Tabled<GammaAndBeta> | null;
  sharings?: Record<string, Tabled<Sharing> | null>;
  sent: GridData;
}

/** One gamma and one beta for all elements, as the reader chose them. */
interface GammaBetaChoice {
  gamma: number;
  beta: number;
}

interface ChartData extends FigureData {
  figure: { data: Trace[]; layout: Record<string, any>; alt: string };
}

interface Trace {
  line?: object;
  marker?: object;
  meta?: { color: string | null };
  [option: string]: any;
}

/** Reads the numbers of a view: the value of the panel ``key`` at a position. */
interface ValueSource {
  data: DecodedData;
  valueAt(key: string, index: Index): number;
}

/** A figure on the page, whatever its kind. */
interface Figure {
  root: HTMLElement;
  data: any;
  width?: number;
  /** On a projector: the height of its panels, or of its chart. */
  height?: number;
  gone?: boolean;
  latest?: FigureData;
  send?: (name: string, value: object) => void;
  /** true: it shows nothing until plotly.js has loaded; false: it never uses plotly.js. */
  needsPlotly?: boolean;
  set(data: any, mode: Mode): void | Promise<void>;
  draw?(): Promise<void>;
  showError(message: string): void;
  destroy(): void;
}

/** A figure that can be saved as a picture. */
interface PictureSource {
  root: FigureElement;
  data: any;
  colors: Colors;
  active?: Index | null;
  panels?: Map<string, any>;
  readout?(index: Index | null): Phrase[];
  plotAsSvg?(): Promise<{ shapes: string; namespaces: string }>;
  announce(message: string): void;
  saveMenu?: HTMLElement;
}

interface FigureElement extends HTMLElement {
  nvImage?: (kind: string) => Promise<Blob>;
  nvImageName?: (kind: string) => string;
}

interface PictureSvg {
  text: string;
  width: number;
  height: number;
}
