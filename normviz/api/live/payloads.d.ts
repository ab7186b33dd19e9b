// Made by tools/payload_types.py from the dataclasses of Python. Do not edit it.

/** The view after an event. */
interface Reply {
  data: DrawnPage;
  rows: RowData[];
  turn: number; // the number of the newest event that it answers
}
