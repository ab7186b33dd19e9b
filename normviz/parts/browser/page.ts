// A page from its data: the HTML of its parts, and the figures in it. The app, files and notebooks use it.

import { mountFigure } from "../../figures/browser/mount.ts";
import { button, findAll, html, nextFrame, projectedScale, svg, visibleWidth } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { termsOf } from "../../figures/browser/text/formula.ts";
import type { FigureView } from "../../figures/browser/views/view.ts";
import { Glossary } from "./glossary.ts";
import { colorCode, listen, pressLink, showOpenTabs } from "./interaction.ts";
import { morph, parse } from "./morph.ts";
import { filterLinks, followTopics, openTopics, rememberResult, searchField, showProgress, type Result } from "./list.ts";
import { followTerms } from "./lights.ts";
import { showGuess } from "./prediction.ts";
import { QuestionScores } from "./splice.ts";
import { drawTensors } from "./tensor.ts";

const NARROW_WINDOW = 760; // px: up to this width, figures are below each other and keep their heights
const BELOW_PROJECTED = 16; // px: the padding of the app's column
const LEAST_FILLED = 60; // px, as it is drawn: a lower figure could not be read
const SHARES = [1, 0.85, 0.72]; // of the scale: a page that does not fit is smaller; one that never fits scrolls

/** What scripts draw in parts of the page, by selector. The modules for steps and exercises add to it: only bundles for such pages have them. */
export const EXTRAS = new Map<string, new (root: HTMLElement, page: PageView) => object>();

/** What scrolls the page: the app's column, or the document. */
function scroller() {
  const main = document.querySelector("[data-testid=stMain]") ?? document.scrollingElement;
  return (main ?? document.documentElement) as HTMLElement;
}

/** Where an element is in what scrolls. */
const topOf = (element: Element) => element.getBoundingClientRect().top + scroller().scrollTop;

export class PageView {
  data: PageData;
  parts = new Map<string, HTMLElement>(); // the element of each part, by key
  figures = new Map<Element, ReturnType<typeof mountFigure>>(); // by the place of the figure
  extras = new WeakMap<Element, object>(); // what EXTRAS have drawn, by its place
  held: { pressed: Element, figure: HTMLElement, top: number } | null = null; // a toggle that the reader has pressed
  resized = new ResizeObserver(() => this.hold());
  mode: Mode = "light";
  scores: QuestionScores | null = null; // of the predictions, for a book around the page
  leave: HTMLElement | null = null; // the buttons that leave the view for a projector, and show the answer
  asked = ""; // the sentence on a projector whose numbers are hidden
  root: HTMLElement;
  host: PageHost;
  pressKey;
  fill;
  filled = Promise.resolve();
  glossary: Glossary;

  /** In a file, the root has the parts already. */
  constructor(root: HTMLElement, host: PageHost) {
    this.root = root;
    this.host = host;
    for (const part of findAll(root, ":scope > .nv-part")) this.parts.set(part.dataset.key ?? "", part);
    this.pressKey = (event: KeyboardEvent) => pressLink(event, root.parentElement ?? root);
    this.fill = () => (this.filled = this.filled.then(() => this.fit()));
    for (const name of ["toggle", "click"]) // an answer, another exercise or step
      root.addEventListener(name, ({ target }) => (target as Element).closest(".nv-present :is(.nv-answer, .nv-practice, .nv-start)") && nextFrame().then(this.fill), true);
    document.addEventListener("keydown", this.pressKey);
    window.addEventListener("resize", this.fill);
    for (const name of ["pointerdown", "keydown"]) window.addEventListener(name, this.press, true);
    this.resized.observe(root.closest("[data-testid=stMainBlockContainer]") ?? root);
    this.glossary = new Glossary(root);
    followTopics(this.root);
    followTerms(this.root, (term) => this.viewOf(term));
    listen(this.root, (link) => this.follow(link), (guess, question, result) => this.guessed(guess, question, result), (text) => this.searched(text));
  }

  /** Shows the data. Elements that have not changed stay, with the focus, the open tab and the position of a scroll bar. */
  set(data: PageData, mode: Mode) {
    this.setText(data);
    this.hold();
    return this.draw(mode).finally(() => this.hold());
  }

  /** Holds a pressed toggle until another press. Until then, the browser does not anchor scrolling. */
  press = ({ target }: Event) => {
    const pressed = (target as Element).closest?.(".nv-figure .nv-toggle");
    const figure = pressed?.closest<HTMLElement>(".nv-figure");
    this.held = pressed && figure && this.root.contains(pressed) ? { pressed, figure, top: topOf(pressed) } : null;
    scroller().style.overflowAnchor = pressed ? "none" : "";
  };

  /**
   * Keeps a pressed toggle under the pointer where what is above it becomes longer or shorter: the page scrolls or,
   * at its top, has a gap.
   */
  hold() {
    if (!this.held?.pressed.isConnected) return;
    const { pressed, figure, top } = this.held, moved = topOf(pressed) - top;
    if (Math.abs(moved) < 1) return;
    const gap = parseFloat(figure.style.paddingTop) || 0;
    if (gap && moved > 0) figure.style.paddingTop = `${Math.max(0, gap - moved)}px`;
    const main = scroller(), before = main.scrollTop, rest = topOf(pressed) - top;
    main.scrollBy({ top: rest, behavior: "instant" });
    const scrolled = main.scrollTop - before;
    if (rest < scrolled) figure.style.paddingTop = `${gap + scrolled - rest}px`;
    this.held.top += scrolled;
  }

  /** Shows the parts, without their figures. */
  setText(data: PageData) {
    const guess = data.guess, before = this.data?.guess, field = searchField(this.root);
    this.data = data;
    this.root.classList.toggle("nv-present", Boolean(data.present));
    const focused = this.glossary.unmark();
    this.arrange(data.present && data.presented ? data.parts.filter((_part, number) => data.presented?.includes(number)) : data.parts);
    this.ask();
    for (const code of findAll(this.root, ".nv-qr:empty")) drawCode(code);
    for (const link of findAll(this.root, "a.nv-go, a.nv-file")) {
      const address = this.host.address?.(link.dataset.page ?? "", link.dataset.query ?? "");
      if (address) link.setAttribute("href", address);
    }
    for (const span of findAll(this.root, ".nv-address")) span.textContent = this.host.address?.(span.dataset.page ?? "", span.dataset.query ?? "") ?? span.textContent;
    const terms = termsOf(data.figures.flatMap((figure) => (figure as Partial<ViewPayload>).formula ?? []));
    for (const code of findAll(this.root, ".nv-code code:not(.nv-plain)")) colorCode(code, terms);
    findAll(this.root, ".nv-tabs").forEach(showOpenTabs);
    if (this.root.querySelector(".nv-prediction")) this.scores ??= new QuestionScores(this.root);
    if (guess !== undefined && guess !== before) this.showGuess(guess);
    openTopics(this.root);
    drawTensors(this.root);
    this.showSearch(field);
    showProgress(this.root);
    this.glossary.set(data.terms ?? []);
    this.glossary.quiet = data.figures.some((figure) => (figure as Partial<ViewPayload>).panels?.some(({ toggles }) => toggles));
    this.glossary.mark(focused);
    for (const [selector, Extra] of EXTRAS)
      for (const place of findAll(this.root, selector)) if (!this.extras.has(place)) this.extras.set(place, new Extra(place, this));
  }

  /** On a projector: the buttons, and the numbers of the sentence, which are hidden until a key shows them. */
  ask() {
    const { data, root } = this, sentence = root.querySelector(".nv-tour-caption, .nv-sentence"), isQuestion = root.querySelector(".nv-prediction");
    const asked = data.present && !isQuestion && sentence?.querySelector("strong") ? sentence.textContent ?? "" : "";
    root.classList.toggle("nv-asks", Boolean(asked));
    // Classes, since the browser would style the whole page again at each change for a rule with :has() whose last part is any element.
    root.classList.toggle("nv-of-title", Boolean(root.querySelector(".nv-tour-title")));
    root.classList.toggle("nv-asks-figure", Boolean(asked && root.querySelector(".nv-tour-caption strong")));
    if (asked !== this.asked) root.classList.remove("nv-told");
    this.asked = asked;
    this.leave?.remove();
    this.leave = data.present ? html("div", "nv-projected") : null;
    if (!this.leave) return;
    if (data.projector && !root.querySelector(".nv-tour")) addButton(this.leave, "nv-leave", "✕", _("Leave the projector view (Esc)"), () => this.host.present?.(false));
    if (asked) addButton(this.leave, "nv-tell", "?", _("Show the answer (space)"), () => root.classList.toggle("nv-told"));
    root.before(this.leave);
  }

  /**
   * Writes the search of the data into its field, unless the reader is typing there.
   * @param before the field on the page before
   */
  showSearch(before: HTMLInputElement | null) {
    const field = searchField(this.root), { search } = this.data;
    if (field && search !== undefined && (field !== before || !field.matches(":focus"))) field.value = search;
    filterLinks(this.root);
  }

  /** Writes the search to the address, if the page has one. */
  searched(text: string) {
    if (this.data.search === undefined || text === this.data.search) return;
    this.data.search = text;
    this.host.search?.(text);
  }

  showGuess(guess: string) {
    this.data.guess = guess;
    for (const box of findAll(this.root, ".nv-prediction")) showGuess(box, guess);
  }

  arrange(parts: [string, string][]) {
    const wanted = new Set(parts.map(([key]) => key));
    for (const [key, element] of this.parts)
      if (!wanted.has(key)) {
        element.remove();
        this.parts.delete(key);
      }
    parts.forEach(([key, text], place) => {
      const known = this.parts.get(key), element = known ?? html("div", "nv-part");
      this.parts.set(key, element);
      if (this.root.children[place] !== element) this.root.insertBefore(element, this.root.children[place] ?? null);
      morph(element, parse(text), (place) => this.figures.has(place) || this.extras.has(place));
    });
  }

  /** Draws every figure of the page, and removes those that are no longer on it. */
  async draw(mode: Mode) {
    const { present } = this.data;
    this.mode = mode;
    if (!present || !Number(this.root.dataset.scale)) this.enlarge(1);
    for (const [place, figure] of this.figures)
      if (!this.root.contains(place)) {
        figure.remove();
        this.figures.delete(place);
      } else if (!present) figure.view.height = undefined;
    for (const place of findAll(this.root, ".nv-figure")) {
      if (this.host.paintsSoon && place.getBoundingClientRect().top > window.innerHeight) await new Promise((go) => setTimeout(go));
      if (this.root.contains(place)) this.drawFigure(place);
    }
    await Promise.all([...this.figures.values()].map(({ drawn }) => drawn));
    await this.fill();
  }

  /**
   * Enlarges a projected page. Of a page with a chart, only the type becomes larger: in an enlarged chart, Plotly would miss the pointer.
   */
  enlarge(share: number) {
    const { root, data } = this, scale = data?.present ? Math.max(1, share * projectedScale()) : 1;
    const hasChart = findAll(root, ".nv-figure").some(({ dataset }) => "figure" in data.figures[Number(dataset.figure)]);
    root.dataset.scale = String(scale);
    root.style.zoom = scale > 1 && !hasChart ? String(scale) : "";
    root.style.setProperty("--nv-type", hasChart ? String(scale) : "1");
  }

  /** On a projector, makes the page as large as the window. */
  async fit() {
    if (!this.data?.present) return;
    const { root } = this, views = [...this.figures.values()].map(({ view }) => view as Figure);
    for (const share of SHARES) {
      this.enlarge(share);
      await Promise.all(views.map((view) => isStale(view) && view.draw?.()));
      for (let spare = 0, tries = 3; tries > 0; tries--) { // at another height, the names of axes may stand elsewhere
        const height = await fillWindow(root, views, spare), missing = root.getBoundingClientRect().bottom + BELOW_PROJECTED - innerHeight;
        if (height > LEAST_FILLED && missing <= 0) return;
        spare += spare + Math.max(0, missing);
      }
    }
  }

  /** Draws the figure whose number its place has. */
  drawFigure(place: HTMLElement) {
    const { figures, plotly, integrity, present, unpresented = [] } = this.data, drawn = figures[Number(place.dataset.figure)];
    const data = { ...drawn, ...(present && unpresented.length && { hidden: [...drawn.hidden ?? [], ...unpresented] }), plotly, integrity, theme: this.mode };
    this.figures.set(place, mountFigure({ parentElement: place, data, setTriggerValue: this.host.send }));
  }

  /** The figure that a term stands in; of code, the first one that has terms. */
  viewOf(term: HTMLElement) {
    const views = [...this.figures.values()].map(({ view }) => view as FigureView);
    return views.find(({ root }) => root.contains(term)) ?? views.find(({ data }) => data?.formula);
  }

  /** Opens a link within the host, if the host can do it. */
  follow(link: HTMLElement) {
    return this.host.go?.(link.dataset.page ?? "", link.dataset.query ?? "") ?? false;
  }

  /** What Share is about: the view that the server has sent, with what the reader has entered on the page since. */
  asEntered<Data extends SharedData>(data: Data): Data {
    const places = [...EXTRAS.keys()].flatMap((selector) => findAll(this.root, selector));
    const extras = places.map((place) => this.extras.get(place) as Extra | undefined);
    return extras.reduce((shared, extra) => extra?.asEntered?.(shared) ?? shared, data);
  }

  /**
   * The reader has predicted something else than the address says, or has opened the answer. Writes a prediction to the address, if the
   * page has one.
   * @param guess "" without a prediction
   * @param result null: the answer was open already
   */
  guessed(guess: string, question: string, result: Result | null) {
    if (guess && guess === this.data.guess) return;
    this.scores?.answered(question, guess, result);
    if (result) rememberResult(question, result);
    if (!guess || this.data.guess === undefined) return;
    this.data.guess = guess;
    this.host.guess?.(guess);
  }

  /** Takes over what a script has drawn on another page, with all that the reader has done there. */
  adopt(before: PageView, selector: string) {
    const [was, is] = [before, this].map(({ root }) => root.querySelector<HTMLElement>(selector));
    const extra = was && before.extras.get(was);
    if (!was || !is || !extra) return;
    const focused = was.contains(document.activeElement) ? document.activeElement as HTMLElement : null;
    is.replaceWith(was);
    this.extras.set(was, extra);
    focused?.focus({ preventScroll: true });
  }

  destroy() {
    this.glossary.remove();
    document.removeEventListener("keydown", this.pressKey);
    window.removeEventListener("resize", this.fill);
    for (const name of ["pointerdown", "keydown"]) window.removeEventListener(name, this.press, true);
    this.resized.disconnect();
    this.leave?.remove();
    for (const figure of this.figures.values()) figure.remove();
    this.root.replaceChildren();
  }
}

/** Whether a figure was drawn at another width. */
const isStale = ({ root }: Figure) => root.dataset.state === "ready" && Number(root.dataset.width) !== visibleWidth(root);

/** The button that shows a page for a projector. */
export function addProjectorButton(className: string, parent: Element, host: PageHost) {
  const project = button(className, parent, _("Project"), () => host.present?.(true));
  project.title = _("Show only the figure, as large as the window, for a projector");
  return project;
}

/** A button in the edge of a projected page, where it covers nothing. */
function addButton(parent: HTMLElement, className: string, sign: string, title: string, onClick: () => void) {
  const added = button(className, parent, sign, onClick);
  added.title = added.ariaLabel = title;
}

/** Draws the modules of a QR code, with the margin of four that it needs. */
function drawCode(place: HTMLElement) {
  const bits = BigInt(`0x${place.dataset.bits}`).toString(2), size = Math.sqrt(bits.length);
  const dark = [...bits].flatMap((bit, at) => (bit === "1" ? `M${at % size},${Math.floor(at / size)}h1v1h-1z` : []));
  const drawn = svg("svg", { viewBox: `-4 -4 ${size + 8} ${size + 8}`, "shape-rendering": "crispEdges", "aria-hidden": "true" }, place);
  svg("path", { d: dark.join("") }, drawn);
}

/**
 * For a projector, draws the figures again with the height that fills the window. Figures side by side share a line; all lines have the same
 * height.
 * @param spare px to leave
 * @returns that height
 */
async function fillWindow(page: HTMLElement, figures: Figure[], spare: number) {
  const lines = new Map<number, number>(); // the height of each, by its top
  const places = findAll(page, ".nv-body, .nv-chart-plot");
  for (const { top, height } of places.map((place) => place.getBoundingClientRect()))
    if (height) lines.set(Math.round(top), Math.max(height, lines.get(Math.round(top)) ?? 0));
  if (!lines.size || window.innerWidth <= NARROW_WINDOW) return Infinity;
  let bottom = page.getBoundingClientRect().bottom;
  for (let at = page.parentElement; at; at = at.parentElement) {
    const { paddingBottom, marginBottom } = getComputedStyle(at);
    bottom += at.scrollTop + parseFloat(paddingBottom) + parseFloat(marginBottom);
  }
  const rest = [...lines.values()].reduce((sum, height) => sum - height, bottom);
  const height = Math.max(LEAST_FILLED, Math.floor((window.innerHeight - spare - rest) / lines.size / (Number(page.style.zoom) || 1)));
  await Promise.all(figures.map((figure) => {
    const same = figure.height === height;
    figure.height = height;
    return same || figure.root.dataset.state !== "ready" ? null : figure.draw?.();
  }));
  return height;
}
