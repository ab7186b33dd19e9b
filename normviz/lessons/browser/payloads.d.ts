// Made by tools/payload_types.py from the dataclasses of Python. Do not edit it.

/** One input of the control bar. */
interface InputData {
  key: string;
  label: string;
  kind: string;
  value: unknown; // the number of the chosen option, or the value itself
  help?: string;
  disabled?: boolean;
  options?: string[]; // the text of each option
  typed?: boolean; // another text than the options can be typed
  most?: number;
  placeholder?: string;
  low?: number;
  high?: number;
  together?: string[]; // the keys of the inputs that change with it
  to?: number[]; // in a file: the number of the view that each value leads to
  values?: number[]; // in a file: the values that can be chosen; of several texts: the sum of 2 to the power of the number of each option
  closed?: boolean; // in a file: no text can be typed
  why?: string; // it is disabled
}

/** A row of the control bar. */
interface RowData {
  key: string;
  inputs: InputData[];
  more: InputData[][]; // columns behind the button More
  note?: string; // a line below the last of these columns
  reset: boolean;
}

/** What the browser draws of a page. */
interface DrawnPage {
  page: string; // the page's name in the app
  parts: [string, string][]; // the key and the HTML of each part
  figures: FigureData[]; // in the order of their places in the HTML
  terms: Term[]; // the words of the glossary that may occur on the page
}

/** A view in the full app. */
interface AppLink {
  page: string;
  query: [string, string][];
}

/** What can be hidden. */
interface PartName {
  name: string;
  label: string;
  figure: boolean; // it stays where the figure stands alone
}

/** Parts that are named together. */
interface Group {
  title: string;
  names: PartName[];
}

/** A ready-made choice, and the names of what it hides. */
interface Preset {
  label: string;
  hidden: string[];
}

/** The data of the Share panel. */
interface SharePayload {
  page: string;
  query: [string, string][];
  guess: string; // the answer in the address of a question, or ""
  title: string;
  groups: Group[];
  presets: Preset[];
  exercise: boolean; // the view is a question, or a set of exercises
  hidden: string[]; // the names of what the view hides
  caption: string;
  hint: string; // the call of the same function on an x of the reader's own, or ""
}

/** The layer and the batch size of trained networks, as a link has them. */
interface Trained {
  norm: string;
  batch: string;
}

/** The accuracies of the networks over the steps, in percent. */
interface Accuracies {
  mean: number[];
  low: number[];
  high: number[];
}

/** The class that the first network gives each test point, in each mode, as digits. */
interface Classes {
  eval: string;
  train: string;
}

/** What the networks with one layer and one batch size did. */
interface TrainedCell {
  eval: Accuracies;
  train: Accuracies;
  plane: string; // of the first network in eval(): how sure it is of class 1 at each place of a grid, as digits from 0 to 9, the lowest row first
  classes: Classes;
  sentence: string; // HTML; "" if it is hidden
  texts: string; // HTML; "" if they are hidden
  alt: string; // the accuracies at the end, in a sentence
}

/** The figure of the trained networks. */
interface TrainingPayload {
  kind: "training";
  norms: [string, string][];
  sizes: number[];
  steps: number[];
  edge: number; // the plane goes from -edge to edge
  side: number; // the number of places in a row of its grid
  points: [number, number][]; // the test points
  spirals: string; // the class of each test point as a digit
  cells: Record<string, TrainedCell>;
  trained: Trained;
}
