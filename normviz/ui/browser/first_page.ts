// The page of the first HTML, which is shown until the app shows the same page.

import { find, findAll, html } from "../../figures/browser/common/dom.ts";
import { applyColors } from "../../figures/browser/common/theme.ts";
import { sameIndex } from "../../figures/browser/tensor/sharing.ts";
import { PageView } from "../../parts/browser/page.ts";
import { focusedOfToy, focusToy } from "../../lessons/home/home.ts";
import { continueStory } from "../../lessons/story/story.ts";
import { keepStep, viewAddress, withParameter } from "./addresses.ts";

const FIELD = ".nv-front-field input[type=text]";
const STATE = "data-test-script-state"; // an attribute of Streamlit's app: initial, running, notRunning

let firstPage: FirstPage | null = null;

class FirstPage implements PageHost {
  paintsSoon = true;
  place: HTMLElement;
  data: PageData;
  view: PageView;
  observer: MutationObserver;

  constructor(place: HTMLElement, data: PageData, mode: Mode) {
    this.place = place;
    this.data = data;
    const root = find(place, ".nv-doc");
    root.dataset.mounted = "yes";
    root.dataset.mode = mode;
    applyColors(root, mode);
    place.hidden = false;
    this.view = new PageView(root.querySelector(":scope > .nv-page") as HTMLElement | null ?? html("div", "nv-page", root), this);
    this.view.set(data, mode);
    this.observer = new MutationObserver(() => this.endAtMessage());
    this.observer.observe(document.body, { subtree: true, childList: true, attributeFilter: [STATE] });
  }

  address: NonNullable<PageHost["address"]> = (page, query) => viewAddress(this.data.page, page, query);

  // The app reads what is in the address when it starts.
  guess: NonNullable<PageHost["guess"]> = (guess) => history.replaceState(history.state, "", withParameter("guess", guess));

  search: NonNullable<PageHost["search"]> = (text) => history.replaceState(history.state, "", withParameter("search", text));

  keepStep: NonNullable<PageHost["keepStep"]> = keepStep;

  present: NonNullable<PageHost["present"]> = () => location.assign(withParameter("present", ""));

  // The app may show a message instead of a page: the run has ended, and there is a message but no place for a page. The end of the run is not
  // enough, because a busy browser may draw the elements later.
  endAtMessage() {
    const ended = document.querySelector(`[${STATE}=notRunning]`), message = document.querySelector("#root :is([data-testid=stAlert], [data-testid=stException])");
    if (ended && message && !document.querySelector("#root :is(.nv-doc, [data-testid=stSkeleton])")) endFirstPage();
  }

  /** Leaves the place to the app's page, which takes over what the reader has chosen. */
  end(page?: PageView) {
    const isTyping = Boolean(this.view.root.querySelector(`${FIELD}:focus`));
    const top = this.place.scrollTop, before = [...this.view.figures.values()], after = page ? [...page.figures.values()] : [];
    this.observer.disconnect();
    const focused = focusedOfToy(this.view.root);
    this.place.remove(); // until then, the app is not visible and takes no focus
    if (page) {
      continueField(this.view.root, page.root, isTyping);
      continueStory(this.view.root, page.root);
      continueQuestions(this.view.root, page.root);
      page.adopt(this.view, ".nv-start");
      focusToy(page.root, focused);
    }
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top, behavior: "instant" });
    after.forEach(({ view }, number) => continueFigure(before[number]?.view, view));
    this.view.destroy();
  }
}

/** Selects the element and shows the step and the cards that the reader has chosen in the other drawing of the figure. */
function continueFigure(before: any, now: any) {
  if (!before?.data || !now.data || String(before.data.grid?.shape) !== String(now.data.grid?.shape)) return; // the address has changed meanwhile
  if ("at" in before && !sameIndex(before.at, now.at)) now.select(before.at);
  if ("step" in before && before.step !== now.step) now.go(before.step);
  if ("cards" in before && before.cards !== now.cards) now.choose(before.cards);
}

/** Copies what the reader has chosen or typed as the answer to a question. */
function continueQuestions(before: HTMLElement, now: HTMLElement) {
  const [was, is] = [before, now].map((root) => findAll(root, ".nv-predict input") as HTMLInputElement[]);
  was.forEach(({ type, value, checked }, i) => {
    if (is[i] && (type === "radio" ? checked : value)) Object.assign(is[i], { value, checked });
  });
}

/** Copies what the reader has typed on the front page. */
function continueField(before: HTMLElement, now: HTMLElement, isTyping: boolean) {
  const [was, is] = [before, now].map((root) => root.querySelector(FIELD) as HTMLInputElement | null);
  if (!was || !is) return;
  is.value = was.value;
  if (!isTyping) return;
  is.focus();
  is.setSelectionRange(was.selectionStart, was.selectionEnd);
}

export function showFirstPage(...page: ConstructorParameters<typeof FirstPage>) {
  firstPage = new FirstPage(...page);
}

export function endFirstPage(page?: PageView) {
  firstPage?.end(page);
  firstPage = null;
}
