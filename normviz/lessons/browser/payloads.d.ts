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

/** An exercise for the browser. Sets are positions of elements in row-major order; wrong answers name their confusions. */
interface PracticeExercise {
  id: string;
  kind: string;
  form: string;
  level: number;
  topic: string;
  layer: string;
  shape: number[];
  names: string[];
  facets: number[];
  row: number | null;
  col: number;
  prompt: string;
  options: [string, string][] | null; // the text of each, and the id of the confusion that it follows from or ""; in the order of display
  answer: string | number | number[]; // a number; the sorted positions; the text of an option; or how toggles stand, as "0,1,2"
  wrong: ([string, string | number | number[]])[]; // the ids of confusions, with the wrong answers that follow from them
  explanation: string;
  hint: string; // what helps where a wrong answer follows from no confusion
  over: Record<string, string>; // the axes that are averaged in a confusion, in words
  link: string; // the view that settles it: /explore?...
  labels?: string[]; // the names of the toggles of the axes
  steps?: number[][]; // how each toggle may stand
  accepted?: (string | number | number[])[]; // how the toggles stand in every right answer
  target?: number[]; // the positions of the elements that are to share a mean
  at?: number[]; // the framed element
  values?: number[]; // the elements of x
  tolerance?: number; // how far a typed number may be off
  markup?: string; // the prompt of a teacher's own question, as HTML
  explained?: string; // the explanation of such a question, as HTML
  why?: Record<string, string>; // by the id of a wrong option of such a question: why it tempts, as HTML
  numbers?: number[]; // for a pattern: the number of the group of each element
}

/** A setting of a set: a whole number, one of the options, or several of them; each option with its text. */
interface PracticeSetting {
  label: string;
  low?: number;
  high?: number;
  optional?: boolean; // whether a set may have no number
  several?: boolean;
  unnamed?: string[]; // the options that a set has which names none
  options?: [string, string][];
}

/** A documented confusion: "That is {name}.", what is true (with placeholders for the tensor), and the question to read with its title. */
interface PracticeConfusion {
  name: string;
  sentence: string;
  question: string;
  title: string;
  step: [number, string] | null; // the number and the title of a step of Start here
}

/** A course that keeps the score. ``mastery``: the least score, in percent, of a set that is passed; None: each set that is done is completed. */
interface PracticeCourse {
  mastery: number | null;
}

/** The data of the page of practice. */
interface PracticeData {
  set: Record<string, string>; // of the page: the value of each setting, as a link has it
  settings: Record<string, PracticeSetting>;
  exercises: PracticeExercise[];
  levels: Record<number, string>; // the name of each level
  served: boolean; // a server chooses the exercises of another set
  confusions: Record<string, PracticeConfusion>;
  timed: boolean;
  controls: boolean; // the reader may change the set
  app: string | null; // its address, "" in the app itself; null: there is no app
  pages: Record<string, string>; // the addresses of pages next to the document, by their link in the app
  scorm?: PracticeCourse; // the page is an object of a course
  title?: string; // of exercises that no setting chooses
}

/** The spread of what each layer computes, by the size of the weights and the layer. */
interface DepthData {
  sizes: number[];
  first: number;
  plain: number[][];
  normalized: number[][];
  kind: "depth";
}

/** A mean and a standard deviation. */
interface LineMoments {
  mean: number;
  std: number;
}

/** A slider that moves the numbers. */
interface LineSlider {
  name: string;
  low: number;
  high: number;
  first: number;
  goal: number;
  step: number;
}

/** Numbers on a line, and two sliders that move them. ``rings``: where they were. */
interface LineData {
  kind: "numbers" | "affine";
  values: number[];
  mean: number;
  std: number;
  sliders: [LineSlider, LineSlider];
  goal: LineMoments;
  rings?: number[];
  range: [number, number];
}

/** The elements of a tensor, some of which a reader marks: those whose index along these axes is that of the framed one. */
interface MarkedTensor extends SmallTensor {
  at: number[];
  axes: NamedAxis[];
  texts?: string[]; // the text of each element, in row-major order; without it, the buttons are empty
}

/** A layer, and what shares a mean or a gamma in it. */
interface MarksTask {
  label: string;
  task: MarkedTensor;
  seen: string; // what the colors show
  about?: string; // what a reader needs to know before marking
  hint?: string; // for wrong marks, instead of that of the step
  shares?: string; // what is shared, where a layer has a task for each: its statistic, or gamma
}

/** One or several layers to choose from. */
interface MarksData {
  tasks: MarksTask[];
  kind: "marks";
}

/** The table of which a reader marks who shares a gamma, and the larger batch that arrives. */
interface GammasData {
  tasks: MarksTask[];
  batch: string[][];
  gammas: number; // how many the layer has
  kind: "gammas";
}

/** Batches, which come again after the last one; the first example of each is the same. */
interface StreamData {
  batches: number[][];
  means: number[]; // of the batches
  stored: number[]; // the running mean after each number of batches in train mode, from 0
  outputs: Record<"train" | "eval", number[]>; // of the first example: in train mode in each batch, and in eval mode after each number of batches
  asked: Record<"train" | "eval", number>; // how many batches the reader pushes
  range: [number, number];
  kind: "stream";
}

/** The images, and their table. */
interface PixelsData {
  tasks: [MarkedTensor, MarkedTensor];
  kind: "pixels";
}

/** What a reader of a figure chooses. */
interface StoryControl {
  label: string; // what it is, for readers
  options: string[]; // the text of each option
  kind: "slider" | "buttons"; // "slider" for amounts, "buttons" for names
  first: number; // the number of the option at first
}

/** A picture: its address, what it shows, and what stands above and below it. */
interface StoryPicture {
  address: string;
  alt: string;
  head: string;
  caption: string;
}

/** What a figure of the story shows. */
interface StoryData {
  controls: StoryControl[];
  figures?: number[]; // of the page, one for each state
  images: StoryPicture[];
  pictures?: number[][]; // the numbers of the images of each state
  depth?: DepthData; // the first figure of Start here, in place of all others
}

/** How all toggles stand, axis by axis. */
interface Standing {
  means: number[]; // 1: the mean is taken over the axis; 0: it is not; more: the number of groups with a mean each
  gamma: number[]; // 1: gamma has its own value for each index along the axis; 0: it does not
  center: boolean; // whether the mean is subtracted; otherwise the means are those of squares
}

/** A layer, and how the toggles stand for it. */
interface ToyLayer {
  name: string;
  family: string;
  standing: Standing;
  usual: boolean; // its options are the defaults
  source?: string; // of a layer that torch does not have
}

/** A tensor, and the layers that toggles find on it. */
interface ToyData extends SmallTensor {
  labels: string[]; // the names of the toggles
  steps: number[][]; // how each toggle of the means may stand
  layers: ToyLayer[];
  goals: string[]; // the families that a reader is asked to make
  first: Standing; // how the toggles stand as the page opens
}

/** A row or a column of the map. */
interface MapLine {
  axes: string; // in words, such as "H, W"
  drawn: number[]; // how the toggles stand for it on the tensor that is drawn
  code: string; // the statistics pattern, or the axes of gamma
  groups: number;
  count: string; // of means or of parameters
  heat: number; // 0 for one, 1 for one for each element
  about: string; // the count, and how many elements share
}

/** A layer at its place. */
interface PlacedLayer {
  row: number;
  column: number;
  name: string;
  layer: string; // as a link writes it
  sign: string; // its letter in the map
  source: string; // of one that torch does not have
  center: boolean; // whether it subtracts the mean
}

/** The map of a tensor, and a small tensor on which groups are drawn. */
interface MapData extends SmallTensor {
  labels: string[]; // the names of the axes
  steps: number[][]; // how each toggle of the means may stand
  rows: MapLine[];
  columns: MapLine[];
  whole: number; // the number of rows with whole axes, which come first
  layers: PlacedLayer[];
  now: [number, number] | null; // the row and the column of the reader's layer, if it has a place
  same: string; // the families on the diagonal, where the two rows of toggles are equal
  once: string; // those where each axis is in one of the two
  query: string; // of the tensor, which that of a layer follows
  scale: string; // the tensor whose groups are drawn is a small one
}
