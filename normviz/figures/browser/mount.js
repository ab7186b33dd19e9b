// Draws a figure at an element of the page, and again whenever its data changes.

import { _ } from "./common/messages.js";
import { loadPlotly } from "./common/plotly.js";
import { readMode } from "./common/theme.js";
import { ChartView } from "./views/chart.js";
import { CompareView } from "./views/compare.js";
import { StepsView } from "./views/steps.js";
import { ValuesView } from "./views/values.js";
import { FigureView } from "./views/view.js";

/**
 * By the kind of their data. The module of a lesson adds its own: only bundles for such pages have it.
 * @type {Record<string, new (parent: HTMLElement) => Figure>}
 */
export const VIEWS = { view: FigureView, compare: CompareView, steps: StepsView, values: ValuesView, chart: ChartView };
/** @type {WeakMap<Element | ShadowRoot, Figure>} */
const views = new WeakMap();

/**
 * ``drawn`` settles when the figure is on the page, or cannot be drawn.
 * @param {ComponentArguments} component
 */
export function mountFigure({ parentElement, data, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".nv-root") ?? parentElement);
  let view = views.get(root);
  if (view?.data && view.data.kind !== data.kind) {
    view.gone = true;
    view.destroy();
    view = undefined;
  }
  view ??= new VIEWS[/** @type {FigureData} */ (data).kind](root);
  const shown = view;
  views.set(root, shown);
  shown.send = (name, value) => data.alone || setTriggerValue?.(name, value);
  shown.latest = data;
  const mode = readMode(parentElement, data.theme), isShown = () => shown.latest === data && !shown.gone;
  const load = async () => data.plotly && loadPlotly(data.plotly, data.integrity); // else the page loads it
  const draw = async () => {
    if (shown.needsPlotly && !window.Plotly) await load();
    if (isShown() && (window.Plotly || !shown.needsPlotly)) await shown.set(data, mode);
  };
  const drawn = draw();
  drawn.catch((error) => {
    if (shown.gone) return; // removed while it was being drawn
    shown.showError(_("The figures could not be drawn: {reason}. Reload the page to try again.", { reason: error.message }));
    console.error(error);
  });
  if (!window.Plotly && shown.needsPlotly === undefined)
    drawn.then(load).then(() => isShown() && window.Plotly && shown.draw?.()).catch((error) => console.info(error)); // the figure stays as it is
  const remove = () => {
    shown.gone = true;
    shown.destroy();
    views.delete(root);
  };
  return { view: shown, drawn, remove };
}
