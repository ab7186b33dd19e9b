// The script of a notebook's widget, for anywidget. Most front ends show the widget's HTML, which finds the model here; others its view.

import { html } from "../../figures/browser/common/dom.js";
import { declareLanguage } from "../../figures/browser/common/messages.js";
import { PageView } from "../../parts/browser/page.js";
import "../../lessons/train_and_eval/training.js";
import { Live, offerModel, plotlyFromKernel } from "../../export/browser/live.js";
import { wantedMode, watchTheme } from "../../export/browser/theme.js";

/** @param {{ model: import("../../export/browser/live.js").Model, signal?: AbortSignal }} widget */
const initialize = ({ model, signal }) => offerModel(model, signal);

/** @param {{ model: import("../../export/browser/live.js").Model, el: HTMLElement }} view */
async function render({ model, el }) {
  const root = html("div", "nv-doc", el), page = new PageView(html("div", "nv-page", root), {});
  const readMode = () => (root.dataset.mode = wantedMode(root, "follow", false));
  root.dataset.mounted = "yes";
  declareLanguage(root);
  readMode();
  const live = new Live(model, root, (data) => page.set(data, /** @type {Mode} */ (readMode())));
  page.host = live;
  plotlyFromKernel(model).then(() => page.data && page.draw(/** @type {Mode} */ (readMode())));
  watchTheme();
  root.addEventListener("nv-theme", () => page.data && root.dataset.mode !== wantedMode(root, "follow", false) && page.draw(/** @type {Mode} */ (readMode())));
  return () => {
    live.remove();
    page.destroy();
  };
}

export default function widget() {
  return { initialize, render };
}
