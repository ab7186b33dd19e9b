// Types of the data of a page. Read by the type checker alone.

interface PageData extends Omit<DrawnPage, "terms">, Partial<OnScreen> {
  terms?: Term[];
  plotly?: string;
  integrity?: string;
  /** The prediction in the address of a question. */
  guess?: string;
  /** The search in the address of the list of questions. */
  search?: string;
}

/** What a page needs of the place that shows it: the app, a file, a notebook. */
interface PageHost {
  /** Whether the browser paints what is on the screen before the figures below it are drawn. */
  paintsSoon?: boolean;
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
  /** Shows the view for a projector, or leaves it. */
  present?(present: boolean): void;
}

/** What Share needs of the settings of a view: its query, and the names of what is hidden. */
interface SharedData {
  query: [string, string][];
  hidden: string[];
}

/** What a script draws in a part of the page. */
interface Extra {
  /** What Share is about, with what the reader has entered here. */
  asEntered?<Data extends SharedData>(data: Data): Data;
}

/** A tensor that is drawn as tables. */
interface SmallTensor {
  shape: number[];
  /** Which axes number the facets, and which are the rows and the columns of a facet, as in ``GridData``. */
  facets: number[];
  row: number | null;
  col: number;
  /** The letter of each axis. */
  names: string[];
  /** The framed element. */
  at?: Index;
  /** The elements of x. */
  values?: number[];
  /** The number of the group of each element. */
  numbers?: number[];
  /** The positions of the elements that are to share a mean: every element is drawn. */
  target?: number[];
}

/** The elements of a tensor. A reader marks some of them. */
interface MarkingTask extends SmallTensor {
  /** Who shares with the framed element: the elements whose index along these axes is its own, as in ``Sharing``. */
  axes: NamedAxis[];
  at: Index;
  /** Whether the framed element can be marked, too. */
  itself?: boolean;
  /** The text of each element, in row-major order; without it, the buttons are empty. */
  texts?: string[];
}

/** The figure of a step of Start here. */
interface StartFigure {
  /** Shows how it is done. */
  solve(): void;
  /** Of several tasks, those whose answer has been seen. */
  ends?: Map<number, "done" | "shown">;
  /** Whether "Show me" has something to show after the step has ended. */
  hasMore?: boolean;
}

/** What a reader answers in practice: an option or a typed number, or the positions of the marked elements in row-major order. */
type PracticeAnswer = string | number | number[];

/** One exercise, as normviz.lessons.practice writes it. */
interface PracticeExercise extends SmallTensor {
  id: string;
  kind: string;
  form: "number" | "mark" | "choice" | "build";
  level: number;
  topic: string;
  layer: string;
  prompt: string;
  /** The text of each option, and the id of the confusion that it follows from or "". */
  options: [string, string][] | null;
  answer: PracticeAnswer;
  /** The ids of confusions, with the wrong answers that follow from them. */
  wrong: [string, PracticeAnswer][];
  explanation: string;
  /** What helps where a wrong answer follows from no confusion. */
  hint: string;
  /** The axes that are averaged in a confusion, in words. */
  over: Record<string, string>;
  /** The names of the toggles of the axes, how each may stand, and how they stand in every right answer. */
  labels?: string[];
  steps?: number[][];
  accepted?: PracticeAnswer[];
  /** The view that settles it: /explore?... */
  link: string;
  /** How far a typed number may be off. */
  tolerance?: number;
}

/** A documented confusion: "That is {name}.", what is true (with placeholders for the tensor), and the question to read with its title. */
interface PracticeConfusion {
  name: string;
  sentence: string;
  question: string;
  title: string;
  /** The number and the title of a step of Start here. */
  step: [number, string] | null;
}

/** What chooses the exercises of a set: the value of each setting, as a link has it. */
type PracticeSet = Record<string, string>;

/** A setting of a set: a whole number, one of the options, or several of them; each option with its text. */
interface PracticeSetting {
  label: string;
  low?: number;
  high?: number;
  several?: boolean;
  /** The options that a set has which names none. */
  unnamed?: string[];
  options?: [string, string][];
}

/** The data of the page of practice. */
interface PracticeData {
  /** The set of the page, and its settings by name. */
  set: PracticeSet;
  settings: Record<string, PracticeSetting>;
  /** Of the set. */
  exercises: PracticeExercise[];
  confusions: Record<string, PracticeConfusion>;
  /** The name of each level. */
  levels: Record<number, string>;
  /** Whether a server chooses the exercises of another set. */
  served: boolean;
  timed: boolean;
  /** Whether the reader may change the set. */
  controls: boolean;
  /** The address of the app, "" in the app itself; null: there is no app. */
  app: string | null;
  /** The addresses of pages next to the document, by their link in the app. */
  pages: Record<string, string>;
}

/** How far a reader has come in a set. */
interface PracticeAttempt {
  /** Of the set and its exercises. */
  key: string;
  /** The number of the exercise that is shown; their count for the summary. */
  at: number;
  seconds: number;
  /** What the reader has entered, and not checked. */
  draft: PracticeAnswer | null;
  /** The tries at each exercise that have been checked; null where the reader has asked for the answer. */
  tries: (PracticeAnswer | null)[][];
  /** The ids of the exercises. */
  ids: string[];
  /** From which a rising set is chosen: a random number, and the confusions that came up before. */
  seed: number;
  due: string[];
}

/** An answer that has been checked. */
interface PracticeResult {
  exercise: PracticeExercise;
  /** null: the reader has asked for the answer. */
  tries: (PracticeAnswer | null)[];
  /** The last of the tries. */
  value: PracticeAnswer | null;
  isRight: boolean;
  /** Whether no other try is left. */
  isDone: boolean;
  /** The ids of the confusions that the tries follow from. */
  confusions: string[];
  /** The id of the documented confusion that the last try follows from, if it follows from one. */
  confusion: string | null;
}

/** What an exercise on the page needs. */
interface ExerciseOptions {
  /** What the reader had entered. */
  draft: PracticeAnswer | null;
  /** That were checked before. */
  tries: (PracticeAnswer | null)[];
  data: PracticeData;
  isLast: boolean;
  addressOf: (link: string) => string | null;
  onChange: (draft: PracticeAnswer | null) => void;
  /** Called with null when the reader asks for the answer. */
  onCheck: (value: PracticeAnswer | null) => void;
  onNext: () => void;
}

/** What the summary of a set needs. */
interface SummaryOptions {
  set: PracticeSet;
  data: PracticeData;
  /** null where the time is hidden. */
  seconds: number | null;
  link: string;
  addressOf: (link: string) => string | null;
  onRestart: () => void;
  onNew?: () => void;
  /** Opens the next level. */
  onHarder?: (() => void) | null;
  isForNewcomers?: boolean;
}

/** The field of an exercise. */
interface PracticeField {
  /** What the reader has entered, complete or not. */
  draft: PracticeAnswer | null;
  /** The answer; null if it is not complete. Then ``needed`` says what is needed. */
  value: PracticeAnswer | null;
  needed: string;
  /** Shows what is right, and returns the counts of marked elements, if elements were marked. */
  reveal(answer: PracticeAnswer, isRight: boolean): { right: number, extra: number, missing: number } | null;
}

interface TrainingData extends FigureData, Omit<TrainingPayload, "kind"> {}
