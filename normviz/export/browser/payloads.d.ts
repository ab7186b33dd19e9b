// Made by tools/payload_types.py from the dataclasses of Python. Do not edit it.

/** A view of a file. */
interface FileView {
  title?: string;
  query: Record<string, string>; // of a link to the app
  state: Record<string, string>; // the settings that are not common
  rows: RowData[];
  parts: [string, string][];
  presented?: number[]; // the numbers of the parts that a projector shows
  figures: FigureData[];
  toggles?: Record<string, number>; // the number of the view that each toggle leads to, by row, axis and step
}

/** The views of a file. */
interface FileViews {
  version: number; // of this format
  page: string; // the name of the page
  app: string; // the address of the app, or ""
  common: Record<string, string>; // the settings that are the same in all views that have them, defaults too
  views: Record<string, unknown>[]; // each a FileView whose long values are ``{"$": number}``
  pool: unknown[]; // the long values
}

/** What the script of an exported page reads. */
interface DocumentData {
  version: number; // of this format
  normviz: string;
  theme: "follow" | "light" | "dark";
  plotly: string; // the address of plotly.js; "" if the page embeds it
  integrity: string; // the hash that plotly.js must have, or ""
  whole: boolean; // the page is a file of its own
  present?: boolean; // the page is for a projector
  unpresented: string[]; // the names of the panels that a projector does not show
  figures: FigureData[];
  terms: Term[];
  answers?: string; // all views, compressed (``FileViews``)
  widget?: string; // the key of the notebook widget that answers while its kernel runs
}
