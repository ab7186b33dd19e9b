// Draws a figure at an element of the page, and again whenever its data changes.

import { _ } from "./page/messages.js";
import { loadPlotly } from "./page/plotly.js";
import { readMode } from "./page/theme.js";
import { ChartView } from "./views/chart.js";
import { CompareView } from "./views/compare.js";
import { StepsView } from "./views/steps.js";
import { TabsView } from "./views/tabs.js";
import { ValuesView } from "./views/values.js";
import { View } from "./views/view.js";

/** @type {Record<FigureData["kind"], new (parent: HTMLElement) => Figure>} */
const VIEWS = { view: View, compare: CompareView, steps: StepsView, values: ValuesView, chart: ChartView, tabs: TabsView };
/** @type {WeakMap<Element | ShadowRoot, Figure>} */
const views = new WeakMap();

/**
 * ``drawn`` settles when the figure is on the page, or cannot be drawn.
 * @param {ComponentArguments} component
 */
export function mountFigure({ parentElement, data, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".nv-root") ?? parentElement);
  const view = views.get(root) ?? new VIEWS[/** @type {FigureData} */ (data).kind](root);
  views.set(root, view);
  view.send = (name, value) => data.alone || setTriggerValue?.(name, value);
  view.latest = data;
  const ready = data.kind === "tabs" ? Promise.resolve() : loadPlotly(data.plotly, data.integrity);
  const drawn = ready.then(async () => {
    if (view.latest === data && !view.gone) await view.set(data, readMode(parentElement, data.theme));
  });
  drawn.catch((error) => {
    if (view.gone) return; // removed while it was being drawn
    view.showError(_("The figures could not be drawn: {reason}. Reload the page to try again.", { reason: error.message }));
    console.error(error);
  });
  const remove = () => {
    view.gone = true;
    view.destroy();
    views.delete(root);
  };
  return { view, drawn, remove };
}
