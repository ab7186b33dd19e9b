// Types of the data of a page. Read by the type checker alone.

interface PageData extends Omit<DrawnPage, "terms">, Partial<OnScreen> {
  terms?: Term[];
  presented?: number[]; // in a file: the numbers of the parts that a projector shows
  unpresented?: string[]; // in a file: the names of the panels that a projector does not show
  plotly?: string;
  integrity?: string;
  guess?: string; // the prediction in the address of a question
  search?: string; // the search in the address of the list of questions
}

/** What a page needs of the place that shows it: the app, a file, a notebook. */
interface PageHost {
  paintsSoon?: boolean; // whether the browser paints what is on the screen before the figures below it are drawn
  send?: (name: string, value: object) => void; // sends what the reader does with a figure
  address?(page: string, query: string): string; // the address of a view of another page
  /** Opens a view of another page; false if the browser should follow the link. */
  go?(page: string, query: string): boolean;
  guess?(guess: string): void; // keeps the reader's prediction in the address
  search?(text: string): void; // keeps the reader's search in the address
  keepStep?(left: number, step: number): void; // keeps the step of a lesson in the address; Back leads to the one that was left
  present?(present: boolean): void; // shows the view for a projector, or leaves it
}

/** What Share needs of the settings of a view: its query, and the names of what is hidden. */
type SharedData = Pick<SharePayload, "query" | "hidden">;

/** What a script draws in a part of the page. */
interface Extra {
  /** What Share is about, with what the reader has entered here. */
  asEntered?<Data extends SharedData>(data: Data): Data;
}

/** Of an exercise: a tensor of which every element is drawn. */
type ExerciseTensor = SmallTensor & Pick<PracticeExercise, "numbers" | "target">;

/** ``itself``: whether the framed element can be marked, too */
type MarkingTask = MarkedTensor & { itself?: boolean };

/** The figure of a step of Start here. */
interface StartFigure {
  solve(): void; // shows how it is done
  ends?: Map<number, "done" | "shown">; // of several tasks, those whose answer has been seen
  hasMore?: boolean; // whether "Show me" has something to show after the step has ended
}

/** What a reader answers in practice: an option or a typed number, or the positions of the marked elements in row-major order. */
type PracticeAnswer = string | number | number[];

/** What chooses the exercises of a set: the value of each setting, as a link has it. */
type PracticeSet = Record<string, string>;

/** How far a reader has come in a set. */
interface PracticeAttempt {
  key: string; // of the set and its exercises
  at: number; // the number of the exercise that is shown; their count for the summary
  seconds: number;
  draft: PracticeAnswer | null; // what the reader has entered, and not checked
  /** The tries at each exercise that have been checked; null where the reader has asked for the answer. */
  tries: (PracticeAnswer | null)[][];
  ids: string[]; // the ids of the exercises
  seed: number; // from which a rising set is chosen: a random number, and the confusions that came up before
  due: string[];
}

/** An answer that has been checked. */
interface PracticeResult {
  exercise: PracticeExercise;
  tries: (PracticeAnswer | null)[]; // null: the reader has asked for the answer
  value: PracticeAnswer | null; // the last of the tries
  isRight: boolean;
  isDone: boolean; // whether no other try is left
  confusions: string[]; // the ids of the confusions that the tries follow from
  /** The id of the documented confusion that the last try follows from, if it follows from one. */
  confusion: string | null;
}

/** What an exercise on the page needs. */
interface ExerciseOptions {
  draft: PracticeAnswer | null; // what the reader had entered
  tries: (PracticeAnswer | null)[]; // that were checked before
  data: PracticeData;
  isLast: boolean;
  addressOf: (link: string) => string | null;
  onChange: (draft: PracticeAnswer | null) => void;
  onCheck: (value: PracticeAnswer | null) => void; // called with null when the reader asks for the answer
  onNext: () => void;
}

/** What the summary of a set needs. */
interface SummaryOptions {
  set: PracticeSet;
  data: PracticeData;
  seconds: number | null; // null where the time is hidden
  link: string;
  addressOf: (link: string) => string | null;
  onRestart: (() => void) | null; // null: a course counts this attempt
  onNew?: () => void;
  onHarder?: (() => void) | null; // opens the next level
  isForNewcomers?: boolean;
}

/** The field of an exercise. */
interface PracticeField {
  draft: PracticeAnswer | null; // what the reader has entered, complete or not
  value: PracticeAnswer | null; // The answer; null if it is not complete. Then ``needed`` says what is needed.
  needed: string;
  /** Shows what is right, and returns the counts of marked elements, if elements were marked. */
  reveal(answer: PracticeAnswer, isRight: boolean): { right: number, extra: number, missing: number } | null;
}

interface TrainingData extends FigureData, Omit<TrainingPayload, "kind"> {}
