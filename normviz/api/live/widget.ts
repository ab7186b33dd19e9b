// The script of a notebook's widget, for anywidget. Most front ends show the widget's HTML, which finds the model here; others its view.

import { html } from "../../figures/browser/common/dom.ts";
import { declareLanguage } from "../../figures/browser/common/messages.ts";
import { PageView } from "../../parts/browser/page.ts";
import "../../lessons/train_and_eval/train_and_eval.ts";
import { Live, offerModel, plotlyFromKernel, type Model } from "../../export/browser/live.ts";
import { wantedMode, watchTheme } from "../../export/browser/theme.ts";

const initialize = ({ model, signal }: { model: Model, signal?: AbortSignal }) => offerModel(model, signal);

async function render({ model, el }: { model: Model, el: HTMLElement }) {
  const root = html("div", "nv-doc", el), page = new PageView(html("div", "nv-page", root), {});
  const readMode = () => (root.dataset.mode = wantedMode(root, "follow", false));
  root.dataset.mounted = "yes";
  declareLanguage(root);
  readMode();
  const live = new Live(model, root, (data) => page.set(data, readMode() as Mode));
  page.host = live;
  plotlyFromKernel(model).then(() => page.data && page.draw(readMode() as Mode));
  watchTheme();
  root.addEventListener("nv-theme", () => page.data && root.dataset.mode !== wantedMode(root, "follow", false) && page.draw(readMode() as Mode));
  return () => {
    live.remove();
    page.destroy();
  };
}

export default function widget() {
  return { initialize, render };
}
