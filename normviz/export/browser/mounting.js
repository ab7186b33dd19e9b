// Mounts exported pages: plotly.js, the figures, tabs and copy buttons, and what answers the controls, if anything does.

import { find, findAll, html } from "../../figures/browser/common/dom.js";
import { _ } from "../../figures/browser/common/messages.js";
import { loadPlotly } from "../../figures/browser/common/plotly.js";
import { drawSvg } from "../../figures/browser/picture/picture.js";
import { PageView } from "../../parts/browser/page.js";
import { wantedMode, watchTheme } from "./theme.js";

/** @typedef {{ version?: number, normviz?: string, theme: Mode | "follow", plotly: string, integrity: string, whole: boolean, figures: FigureData[], terms?: Term[], answers?: string | PackedViews, widget?: string }} Settings */
/** @typedef {import("./views.js").PackedViews} PackedViews */
/** @typedef {import("./playing.js").Player} Player */
/** @typedef {import("./live.js").Live} Live */
/** @typedef {Pick<typeof import("./playing.js"), "Player"> & Pick<typeof import("./live.js"), "Live" | "plotlyFromWidget" | "watchModel">} Playable what only pages with controls need */

/**
 * plotly.js as an output on the page carries it, compressed; it is unpacked once per page.
 * @param {Element} root
 */
function carriedPlotly(root) {
  const carried = root.querySelector(":scope > .nv-carried") ?? document.querySelector(".nv-carried");
  if (carried) window.normvizCarried ??= addressOf((carried.textContent ?? "").trim());
  return window.normvizCarried ?? null;
}

/** @param {string} text */
async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** @param {string} text */
const addressOf = async (text) => URL.createObjectURL(new Blob([await unpack(text)], { type: "text/javascript" }));

/**
 * Loads plotly.js: the page's own, else a carried one, else from its address. If that fails, waits for an output that carries it.
 * @param {HTMLElement} root
 * @param {Settings} settings
 * @param {Playable} [playable]
 */
async function needPlotly(root, settings, playable) {
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

/**
 * @param {Element} root
 * @returns {Promise<string>}
 */
function carriedLater(root) {
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

/** @param {HTMLElement} root */
const modeOf = (root) => /** @type {Mode} */ (root.dataset.mode);

/**
 * Draws the figures of an exported page, or of a part of another page: at once, and again with plotly.js as soon as it has loaded.
 * @param {HTMLElement} root
 * @param {Playable} [playable]
 */
async function mountPage(root, playable) {
  root.dataset.mounted = "yes";
  const settings = /** @type {Settings} */ (JSON.parse(find(root, ":scope > .nv-data").textContent ?? ""));
  const { answers } = settings, packed = typeof answers === "string" ? /** @type {PackedViews} */ (JSON.parse(await unpack(answers))) : answers;
  if (settings.whole) document.documentElement.classList.toggle("nv-framed", window.parent !== window);
  const applyMode = () => {
    const mode = wantedMode(root, settings.theme, settings.whole), changed = root.dataset.mode !== mode;
    for (const element of settings.whole ? [root, document.documentElement] : [root])
      if (element.dataset.mode !== mode) element.dataset.mode = mode; // setting it calls for another look, even if its value stays
    return changed && mode;
  };
  applyMode();
  watchTheme();
  const place = /** @type {HTMLElement | null} */ (root.querySelector(":scope > .nv-page")) ?? html("div", "nv-page", root);
  if (packed && playable && packed.version !== playable.Player.VERSION) {
    const versions = { theirs: packed.version, ours: playable.Player.VERSION };
    place.replaceChildren(html("p", "nv-note-box", null, _("This page was made by another version of normviz: its data has version {theirs}, and its script reads version {ours}. Export it again.", versions)));
    return new PageView(place, {});
  }
  /** @type {PageView} */
  let page;
  /** @type {Player | undefined} */
  let player;
  if (packed && playable) {
    player = new playable.Player(root, packed, settings.whole, (view) => {
      const data = { ...view, terms: settings.terms };
      return page.data ? page.set(data, modeOf(root)) : page.setText(data);
    });
    page = new PageView(place, player);
    player.readAddress();
  } else {
    page = new PageView(place, {});
    const parts = findAll(place, ":scope > .nv-part").map((part) => /** @type {[string, string]} */ ([part.dataset.key ?? "", part.innerHTML]));
    page.setText({ page: "", parts, figures: settings.figures, terms: settings.terms });
  }
  page.draw(modeOf(root));
  if (settings.widget && playable) connectKernel(settings.widget, root, page, playable, player);
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
 * @param {string} key of the widget
 * @param {HTMLElement} root
 * @param {PageView} page
 * @param {Playable} playable
 * @param {Player} [player]
 */
function connectKernel(key, root, page, playable, player) {
  /** @type {Live | undefined} */
  let live;
  /** @param {boolean} kernel */
  const answer = (kernel) => {
    page.host = (kernel ? live : player) ?? {};
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

/**
 * For a program that drives a browser: every figure of the page, hidden ones too, as { svg, width, height }.
 * @param {ReturnType<typeof mountPage>[]} mounted
 */
async function picturesOf(mounted) {
  const figures = (await Promise.all(mounted)).flatMap((page) => [...page.figures.values()]), pictures = [];
  for (const details of findAll(document, ".nv-more")) details.setAttribute("open", "");
  for (const tab of findAll(document, ".nv-tab[hidden]")) tab.hidden = false;
  await Promise.all(figures.map(({ drawn }) => drawn));
  for (const { view } of figures) {
    if (view.root.clientWidth !== view.width) await view.draw?.();
    const { text, width, height } = await drawSvg(/** @type {PictureSource} */ (/** @type {unknown} */ (view)));
    pictures.push({ svg: text, width, height });
  }
  return pictures;
}

/**
 * Mounts every page of the document, or those with a single view if nothing answers.
 * @param {Playable} [playable]
 */
export function mountPages(playable) {
  const pages = findAll(document, `.nv-doc:not([data-mounted])${playable ? "" : ":not([data-answers])"}`);
  const mounted = pages.map((root) => mountPage(root, playable));
  window.normviz ??= { pictures: () => picturesOf(mounted) };
}
