// Draws a figure at an element of the page, and again whenever its data changes.

import { _ } from "./common/messages.ts";
import { loadPlotly } from "./common/plotly.ts";
import { readMode } from "./common/theme.ts";
import { ChartView } from "./views/chart.ts";
import { CompareView } from "./views/compare.ts";
import { StepsView } from "./views/steps.ts";
import { ValuesView } from "./views/values.ts";
import { FigureView } from "./views/view.ts";

/** By the kind of their data. The module of a lesson adds its own: only bundles for such pages have it. */
export const VIEWS: Record<string, new (parent: HTMLElement) => Figure> = { view: FigureView, compare: CompareView, steps: StepsView, values: ValuesView, chart: ChartView };
const views = new WeakMap<Element | ShadowRoot, Figure>();

/** ``drawn`` settles when the figure is on the page, or cannot be drawn. */
export function mountFigure({ parentElement, data, setTriggerValue }: ComponentArguments) {
  const root = (parentElement.querySelector(".nv-root") ?? parentElement) as HTMLElement;
  let view = views.get(root);
  if (view?.data && view.data.kind !== data.kind) {
    view.gone = true;
    view.destroy();
    view = undefined;
  }
  view ??= new VIEWS[(data as FigureData).kind](root);
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
