// Made by tools/payload_types.py from the dataclasses of Python. Do not edit it.

/** A word of the glossary: the ways to write it, and its explanation as HTML. */
interface Term {
  forms: string[];
  about: string;
}

/** A figure that sends what the reader does to a server. */
interface Served {
  turn: number; // the number of the last event that the server has received
}

/** A figure that sends nothing to a server. */
interface Alone {
  alone: true;
  editable: false;
  fixed?: boolean; // in a file: x could be edited, but nothing computes the results
}

/** A tensor that is drawn as tables: which axes number the facets, and which are the rows and the columns of a facet. */
interface SmallTensor {
  shape: number[];
  names: string[]; // the letter of each axis
  facets: number[];
  row: number | null;
  col: number;
  at?: number[]; // the framed element
  values?: number[]; // the elements of x
}
