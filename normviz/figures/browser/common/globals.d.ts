// Types of what a script gets from its page: properties of the window, modules that Python writes, and Streamlit's arguments. Read by the type checker alone.

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
  /** The models of a notebook's widgets, by key. */
  normvizModels?: Map<string, any>;
}

declare module "normviz:themes" {
  export const THEMES: Record<Mode, Colors>;
}

declare module "normviz:messages" {
  /** English text -> its translation, or its translated plural forms. */
  export const TRANSLATIONS: Record<string, string | string[]>;
  /** Which plural form a number takes. */
  export function pluralForm(n: number): number;
  /** The language of the texts: for the attributes of an element, and whether a comma begins the decimals of a typed number. */
  export const LANGUAGE: { tag: string, direction: string, decimalComma: boolean };
}
