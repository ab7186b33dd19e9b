// What comes between the heading and the controls of a page: Share, and on a narrow screen the contents and the button that unfolds the controls.

import { button, findAll, html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { applyColors } from "../../figures/browser/common/theme.ts";
import { Fold } from "../../lessons/browser/fold.ts";

const LONG_PAGE = 3000, PHONE = 760; // px
/** What is listed, and how it is called. */
const SECTIONS: [string, (section: HTMLElement) => string][] = [
  [".nv-page h2:not(.nv-heading)", (section) => section.textContent ?? ""],
  [".nv-compare > .nv-stats", () => _("Who shares my mean and variance?")],
  [".nv-compare > .nv-params", () => _("Who shares my gamma and beta?")],
  [".nv-compare > .nv-cube", () => _("Cubes")],
  [".nv-view .nv-row > .nv-panel", (section) => section.querySelector(".nv-over")?.getAttribute("aria-label") ?? ""],
  [".nv-table-box", () => _("Table")],
  [".nv-tabs", () => _("Code")],
];
const MAIN = '[data-testid="stMainBlockContainer"]';
const TABS = ".nv-views > a";
const ABOVE_CONTROLS = '[data-testid="stLayoutWrapper"]:has(> :is(.st-key-heading, .st-key-hidden_heading))';

/** Names a state of the page for the style of Streamlit's elements. ``:has()`` would be evaluated again at every change of the page. */
export const markApp = (state: "presents" | "shares" | "translates" | "unfolded", is: boolean) => document.documentElement.classList.toggle(`nv-app-${state}`, is);

export class PageHead {
  contents?: Contents;
  host: PageHost;
  fold: Fold;
  root = html("div", "nv-doc nv-app nv-above");

  constructor(host: PageHost) {
    this.host = host;
    this.root.dataset.mounted = "yes";
    document.addEventListener("click", this.followTab);
    this.fold = new Fold(this.root, (isOpen) => markApp("unfolded", isOpen));
  }

  /**
   * Streamlit draws what follows. The head is put back if Streamlit has made the page or its heading again.
   * @param data with the summary of the controls; null: the view hides some of them
   */
  set({ summary, scene = "" }: Partial<Header>, mode: Mode) {
    const main = document.querySelector(MAIN) as HTMLElement | null;
    const above = main?.querySelector(ABOVE_CONTROLS);
    if (above && above.nextElementSibling !== this.root) above.after(this.root);
    if (main) this.contents ??= new Contents(this.root, main);
    this.root.dataset.mode = mode;
    applyColors(this.root, mode);
    for (const tab of findAll(document.body, TABS)) {
      tab.dataset.query = scene;
      if (!tab.ariaCurrent) tab.setAttribute("href", this.host.address?.(...targetOf(tab)) ?? "");
      const row = tab.parentElement as HTMLElement; // a narrow one scrolls
      if (tab.ariaCurrent) row.scrollLeft = tab.offsetLeft + tab.offsetWidth - row.offsetLeft - row.clientWidth;
    }
    this.fold.set(summary || _("Controls"));
    this.fold.root.hidden = summary === null;
    if (summary === null) this.fold.show(true);
  }

  /** The tabs are in the heading, which Streamlit draws. */
  followTab = (event: MouseEvent) => {
    const tab = (event.target as Element).closest<HTMLElement>(`${TABS}[href]`);
    if (tab && !event.ctrlKey && !event.metaKey && !event.shiftKey && this.host.go?.(...targetOf(tab))) event.preventDefault();
  };

  remove() {
    document.removeEventListener("click", this.followTab);
    this.contents?.remove();
    this.root.remove();
  }
}

/** The page and the query of a link. */
const targetOf = ({ dataset }: HTMLElement): [string, string] => [dataset.page ?? "", dataset.query ?? ""];

/** The contents of a long page on a narrow screen: a list of its figures, tables and code, which is written when it is opened. */
class Contents {
  page: HTMLElement;
  root: HTMLDetailsElement;
  list: HTMLUListElement;
  observer: ResizeObserver;

  constructor(parent: HTMLElement, page: HTMLElement) {
    this.page = page;
    this.root = html("details", "nv-contents", parent);
    html("summary", "", this.root, _("On this page"));
    this.list = html("ul", "", this.root);
    this.root.addEventListener("toggle", () => this.root.open && this.write());
    this.observer = new ResizeObserver(() => void (this.root.hidden = innerWidth > PHONE || page.scrollHeight < LONG_PAGE));
    this.observer.observe(page);
  }

  write() {
    const named = SECTIONS.flatMap(([selector, name]) => findAll(this.page, selector).map((section) => [section, name(section)] as [HTMLElement, string]));
    const names = new Map(named), all = SECTIONS.map(([selector]) => selector).join();
    const listed = findAll(this.page, all).filter((section) => section.checkVisibility() && names.get(section));
    this.list.replaceChildren();
    for (const section of listed) button("", html("li", "", this.list), names.get(section) as string, () => this.go(section));
  }

  go(section: HTMLElement) {
    this.root.open = false;
    section.scrollIntoView();
    const band = section.closest(".nv-view")?.querySelector(".nv-band")?.getBoundingClientRect(), { top } = section.getBoundingClientRect();
    if (band && band.top <= top && top < band.bottom) this.page.parentElement?.scrollBy(0, top - band.bottom);
  }

  remove() {
    this.observer.disconnect();
  }
}
