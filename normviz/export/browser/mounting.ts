// Mounts exported pages: plotly.js, the figures, tabs and copy buttons, and what answers the controls, if anything does.

import { find, findAll, html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { loadPlotly } from "../../figures/browser/common/plotly.ts";
import { drawSvg } from "../../figures/browser/picture/picture.ts";
import { addProjectorButton, PageView } from "../../parts/browser/page.ts";
import { wantedMode, watchTheme } from "./theme.ts";
import { Still, type Settings, type Shown } from "./still.ts";
import type { Player } from "./playing.ts";
import type { Live } from "./live.ts";

/** what only pages with controls need */
type Playable = Pick<typeof import("./playing.ts"), "Player"> & Pick<typeof import("./live.ts"), "Live" | "plotlyFromWidget" | "watchModel">;

/** plotly.js as an output on the page carries it, compressed; it is unpacked once per page. */
function carriedPlotly(root: Element) {
  const carried = root.querySelector(":scope > .nv-carried") ?? document.querySelector(".nv-carried");
  if (carried) window.normvizCarried ??= addressOf((carried.textContent ?? "").trim());
  return window.normvizCarried ?? null;
}

async function unpack(text: string) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

const addressOf = async (text: string) => URL.createObjectURL(new Blob([await unpack(text)], { type: "text/javascript" }));

/** What is worth a projector: a figure, a question or an exercise, and not a list, an article or a lesson plan. */
const PROJECTED = ".nv-part:not(:has(.nv-story)) :is(.nv-figure, .nv-prediction, .nv-practice, .nv-start, .nv-map)";

/** Loads plotly.js: the page's own, else a carried one, else from its address. If that fails, waits for an output that carries it. */
async function needPlotly(root: HTMLElement, settings: Settings, playable?: Playable) {
  if (window.Plotly) return;
  const carried = await carriedPlotly(root);
  try {
    await loadPlotly(carried ?? settings.plotly, carried ? "" : settings.integrity);
  } catch (error) {
    console.error(error);
    const reason = error instanceof Error ? error.message : String(error), chart = root.querySelector(".nv-figure:not(:has(.nv-view[data-state]))");
    const note = chart && html("p", "nv-note-box nv-missing", chart);
    if (note) note.textContent = settings.whole
      ? _("The chart could not be drawn: {reason}.", { reason })
      : _("The chart could not be drawn: {reason}. The first normviz output of a notebook carries it: run that cell again.", { reason });
    const later = [carriedLater(root).then((address) => loadPlotly(address, ""))];
    await Promise.race(settings.widget && playable ? [...later, playable.plotlyFromWidget(settings.widget)] : later);
    note?.remove();
  }
}

function carriedLater(root: Element): Promise<string> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      const carried = carriedPlotly(root);
      if (!carried) return;
      observer.disconnect();
      resolve(carried);
    });
    observer.observe(document.documentElement, { childList: true, subtree: true });
  });
}

const modeOf = (root: HTMLElement) => root.dataset.mode as Mode;

/** Draws the figures of an exported page, or of a part of another page: at once, and again with plotly.js as soon as it has loaded. */
async function mountPage(root: HTMLElement, playable?: Playable) {
  root.dataset.mounted = "yes";
  const settings = JSON.parse(find(root, ":scope > .nv-data").textContent ?? "") as Settings;
  const { answers } = settings, packed = typeof answers === "string" ? JSON.parse(await unpack(answers)) as FileViews : answers;
  if (settings.whole) document.documentElement.classList.toggle("nv-framed", window.parent !== window);
  const applyMode = () => {
    const mode = wantedMode(root, settings.theme, settings.whole), changed = root.dataset.mode !== mode;
    for (const element of settings.whole ? [root, document.documentElement] : [root])
      if (element.dataset.mode !== mode) element.dataset.mode = mode; // setting it calls for another look, even if its value stays
    return changed && mode;
  };
  applyMode();
  watchTheme();
  const place = root.querySelector(":scope > .nv-page") as HTMLElement | null ?? html("div", "nv-page", root);
  if (packed && playable && packed.version !== playable.Player.VERSION) {
    const versions = { theirs: packed.version, ours: playable.Player.VERSION };
    place.replaceChildren(html("p", "nv-note-box", null, _("This page was made by another version of normviz: its data has version {theirs}, and its script reads version {ours}. Export it again.", versions)));
    return new PageView(place, {});
  }
  const show = (view: Shown) => {
    const { terms, unpresented } = settings, data = { ...view, terms, unpresented, present: settings.present || host.presenting, projector: host.projector };
    return page.data ? page.set(data, modeOf(root)) : page.setText(data);
  };
  const player = packed && playable && new playable.Player(root, settings, show, packed), host = player ?? new Still(root, settings, show);
  const page = new PageView(place, host), siteTools = document.querySelector(".ns-tools");
  if (!player && host.projector && siteTools && place.querySelector(PROJECTED)) addProjectorButton("ns-project", siteTools, host);
  host.readAddress();
  page.draw(modeOf(root));
  if (settings.widget && playable) connectKernel(settings.widget, root, page, playable, host, player);
  const look = () => {
    const mode = root.isConnected && applyMode();
    if (mode) page.draw(mode);
  };
  root.addEventListener("nv-theme", look);
  new ResizeObserver(look).observe(root); // the theme may change while the output is off the page
  if (!window.Plotly && page.data.figures.length) {
    await needPlotly(root, settings, playable);
    applyMode();
    await page.draw(modeOf(root));
  }
  return page;
}

/**
 * Lets the kernel of the notebook make the views from its first reply on, while it runs; before and after, those in the output are used.
 * @param key of the widget
 */
function connectKernel(key: string, root: HTMLElement, page: PageView, playable: Playable, host: Still, player?: Player) {
  let live: Live | undefined;
  const answer = (kernel: boolean) => {
    page.host = (kernel && live) || host;
    root.toggleAttribute("data-kernel", kernel);
    if (kernel) player?.leave();
    else player?.resume();
  };
  playable.watchModel(key, (model) => {
    live?.remove();
    if (page.host === live) answer(false);
    live = model && new playable.Live(model, root, (data) => {
      if (page.host !== live) answer(true);
      page.set(data, modeOf(root));
    });
  });
}

/** For a program that drives a browser: every figure of the page, hidden ones too, as { svg, width, height }. */
async function picturesOf(mounted: ReturnType<typeof mountPage>[]) {
  const figures = (await Promise.all(mounted)).flatMap((page) => [...page.figures.values()]), pictures = [];
  for (const details of findAll(document, ".nv-more")) details.setAttribute("open", "");
  for (const tab of findAll(document, ".nv-tab[hidden]")) tab.hidden = false;
  await Promise.all(figures.map(({ drawn }) => drawn));
  for (const { view } of figures) {
    if (view.root.clientWidth !== view.width) await view.draw?.();
    const { text, width, height } = await drawSvg(view as unknown as PictureSource);
    pictures.push({ svg: text, width, height });
  }
  return pictures;
}

/** Mounts every page of the document, or those with a single view if nothing answers. */
export function mountPages(playable?: Playable) {
  const pages = findAll(document, `.nv-doc:not([data-mounted])${playable ? "" : ":not([data-answers])"}`);
  const mounted = pages.map((root) => mountPage(root, playable));
  window.normviz ??= { pictures: () => picturesOf(mounted) };
}
