// Types of what the browser modules share, besides the payloads of payloads.d.ts. Read by the type checker alone.

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

/** Little-endian float32 in base64; ``values`` instead of ``data`` for numbers that the browser computed. */
interface PackedArray {
  shape: number[];
  data: string;
  values?: Float32Array;
}

type FloatArray = Required<Omit<PackedArray, "data">>;

/** Which elements share a value: the group of an element is its index along ``axes``. */
type Sharing = Pick<Statistics, "axes" | "size">;

/** With tables for the drawn indices: the group of an element, as a number, is the sum of one entry per axis. */
type Tabled<S extends Sharing> = S & { tables: number[][] };

/** The mean and the variance of each group, at one stage of the forward pass. */
interface Moments<Packed> {
  mean: Packed;
  var: Packed;
}

type CubeData = PanelData & { box: Box };

/** What scripts know of every figure. */
interface FigureData extends Partial<Omit<Served & Alone, "alone" | "editable">> {
  kind: "view" | "compare" | "steps" | "values" | "chart" | "training";
  theme?: Mode | null;
  plotly?: string;
  integrity?: string;
  alone?: boolean;
  open?: string[];
  of_element?: boolean;
  square?: boolean;
  hidden?: string[];
  save?: boolean;
  layer?: string;
  layers?: LayerName[];
  params?: GammaAndBeta | null;
  grid?: GridData;
  start?: number[] | null; // in a file: the first slices that the reader has chosen; null: as in the grid
}

/** What one kind of linked figure has besides the others. */
type Own<Payload> = Partial<Omit<Payload, keyof LinkedLayer>>;

/** A linked figure of any kind. */
type ViewData = FigureData & Omit<LinkedLayer, "kind" | "layer"> & Own<ViewPayload> & Own<StepsPayload> & Own<ValuesPayload> & Own<ComparePayload> & {
  choice?: GammaBetaChoice | null; // in a file: the gamma and beta that the reader chose
  presses?: Record<string, number>; // in a file: the toggles that it has a view for, by row, axis and step
};

type Cards = ComparePayload["cards"];

interface DecodedValues extends Moments<FloatArray> {
  eps: number;
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
type GammaBetaChoice = { gamma: number; beta: number };
type ChartData = FigureData & { figure: { data: Trace[]; layout: Record<string, any>; alt: string } };

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
  height?: number; // on a projector: the height of its panels, or of its chart
  gone?: boolean;
  latest?: FigureData;
  send?: (name: string, value: object) => void;
  needsPlotly?: boolean; // true: it shows nothing until plotly.js has loaded; false: it never uses plotly.js
  set(data: any, mode: Mode): void | Promise<void>;
  draw?(): Promise<void>;
  showError(message: string): void;
  destroy(): void;
}

/** A figure that can be saved as a picture. */
interface PictureSource {
  root: FigureElement;
  data: any;
  colors: Theme;
  active?: Index | null;
  panels?: Map<string, any>;
  readout?(index: Index | null): Phrase[];
  plotAsSvg?(): Promise<{ shapes: string; namespaces: string }>;
  announce(message: string): void;
  saveMenu?: HTMLElement;
}

type FigureElement = HTMLElement & { nvImage?: (kind: string) => Promise<Blob>; nvImageName?: (kind: string) => string };
type PictureSvg = { text: string; width: number; height: number };
