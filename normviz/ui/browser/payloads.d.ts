// Made by tools/payload_types.py from the dataclasses of Python. Do not edit it.

/** How the app shows a page. */
interface OnScreen {
  present: boolean; // for a projector: the figure fills the screen
  group: string; // the title of the page's group in the header, or ""
  projector: boolean; // the reader can change ``present``
}

/** What is around a page. */
interface Frame {
  share: SharePayload | null;
  languages: [string, string, string][]; // the name of each in a link, its name in the language itself, and its tag
  report: string; // where reports of errors go, or ""
}

/** What the controls have chosen, and the query of the scene for the tabs. */
interface Header {
  summary: string | null;
  scene: string;
}

/** Its name in a link, and its attributes in HTML. */
interface ReaderLanguage {
  name: string;
  tag: string;
  direction: string;
}

/** Where the scripts are, and the message if they do not load. */
interface Scripts {
  script: string;
  failed: string;
  plotly: string;
  language: ReaderLanguage;
}
