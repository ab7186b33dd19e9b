// Types of what a script gets from its page: properties of the window, constants that Python writes, and Streamlit's arguments. Read by the type checker alone.

/** What Streamlit calls a component's script with. */
interface ComponentArguments {
  parentElement: HTMLElement | ShadowRoot;
  data: any;
  setTriggerValue?: (name: string, value: object) => void;
}

interface Window {
  Plotly?: any;
  normviz?: { pictures: () => Promise<{ svg: string; width: number; height: number }[]> };
  normvizPlotly?: Promise<unknown>;
  normvizCarried?: Promise<string>;
  normvizNumber?: number;
  normvizWatch?: boolean;
  normvizModels?: Map<string, any>; // the models of a notebook's widgets, by key
}

/** The colors. Python writes this and the next constants before a bundle. */
declare const THEMES: Record<Mode, Theme>;
/** English text -> its translation, or its translated plural forms. */
declare const TRANSLATIONS: Record<string, string | string[]>;
/** Which plural form a number takes. */
declare const pluralForm: (n: number) => number;
/** The language of the texts: for the attributes of an element, and whether a comma begins the decimals of a typed number. */
declare const LANGUAGE: { tag: string; direction: string; decimalComma: boolean };
