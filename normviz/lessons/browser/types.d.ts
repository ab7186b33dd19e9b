// Types of the data of a page. Read by the type checker alone.

interface PageData {
  /** The page's name in the app. */
  page: string;
  /** The key and the HTML of each part. */
  parts: [string, string][];
  /** The figures, in the order of their places in the HTML. */
  figures: FigureData[];
  plotly?: string;
  integrity?: string;
  /** The prediction in the address of a question. */
  guess?: string;
  /** The search in the address of the list of questions. */
  search?: string;
  /** For a projector: the figure fills the screen. */
  present?: boolean;
}

/** What a page needs of the place that shows it: the app, a file, a notebook. */
interface PageHost {
  /** Sends what the reader does with a figure. */
  send?: (name: string, value: object) => void;
  /** The address of a view of another page. */
  address?(page: string, query: string): string;
  /** Opens a view of another page; false if the browser should follow the link. */
  go?(page: string, query: string): boolean;
  /** Keeps the reader's prediction in the address. */
  guess?(guess: string): void;
  /** Keeps the reader's search in the address. */
  search?(text: string): void;
}

/** One input of the control bar. */
interface ControlInput {
  key: string;
  label: string;
  kind: string;
  /** The number of the chosen option, or the value itself. */
  value: unknown;
  help?: string;
  disabled?: boolean;
  options?: string[];
  low?: number;
  high?: number;
  step?: number;
  labels?: string[];
  most?: number;
  /** The values that can be chosen; of several texts: the sum of 2 to the power of the number of each option. */
  values?: number[];
  /** Whether only the options can be chosen, and no typed text. */
  closed?: boolean;
  placeholder?: string;
  together?: string[];
}

interface ControlRow {
  key: string;
  inputs: ControlInput[];
  more: ControlInput[][];
  reset: boolean;
}

/** Elements of a tensor of which a reader marks some. */
interface MarkingTask {
  shape: number[];
  /** The letter of each axis. */
  names: string[];
  /** Who shares with the framed element: the elements whose index along these axes is its own, as in ``Sharing``. */
  axes: NamedAxis[];
  /** The framed element, which cannot be marked. */
  at: Index;
  /** The text of each element, in row-major order; without it, the buttons are empty. */
  texts?: string[];
}

/** The figure of a step of Start here. */
interface StartFigure {
  /** Shows how it is done. */
  solve(): void;
}
