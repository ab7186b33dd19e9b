// A page in a file, as the host of its figures: its address says whether a projector shows it, with #present=true. By itself, a page with a single view.

import { findAll } from "../../figures/browser/common/dom.ts";

export type Settings = Omit<DocumentData, "version" | "normviz" | "terms" | "answers"> & Partial<Pick<DocumentData, "version" | "normviz" | "terms">> & { answers?: string | FileViews };
export type Shown = Pick<PageData, "page" | "parts" | "figures" | "presented">;

export class Still implements PageHost {
  /** Whether the address asks for the view of a projector: the figure fills the screen, without controls. */
  presenting = false;
  root: HTMLElement;
  settings: Settings;
  show: (shown: Shown) => void;
  ownsAddress: boolean;
  projector: boolean;
  own?: Shown; // what the file shows without a script

  /** ``show`` draws the page. */
  constructor(root: HTMLElement, settings: Settings, show: Still["show"]) {
    this.root = root;
    this.settings = settings;
    this.show = show;
    this.ownsAddress = settings.whole && /^(file|https?|blob):$/.test(location.protocol); // a frame with srcdoc has no address of its own
    this.projector = this.ownsAddress && !settings.present && window.parent === window;
    if (this.ownsAddress) window.addEventListener("hashchange", () => location.hash.slice(1).match(/^$|=/) && this.readAddress());
  }

  /** What the address asks for. A link may have written the projector before the #, too. */
  readAddress() {
    const asked = new URLSearchParams(this.ownsAddress ? location.hash.slice(1).replaceAll("+", "%2B") : "");
    const isAsked = [asked, new URLSearchParams(this.ownsAddress ? location.search : "")].some((query) => query.get("present") === "true");
    this.presenting = isAsked && !this.settings.present;
    this.read(asked);
  }

  read(_asked: URLSearchParams) {
    this.update();
  }

  update() {
    this.show(this.own ??= this.readOwn());
  }

  readOwn(): Shown {
    const parts = findAll(this.root, ":scope > .nv-page > .nv-part");
    return {
      page: "", figures: this.settings.figures,
      parts: parts.map((part) => [part.dataset.key ?? "", part.innerHTML]),
      presented: parts.flatMap((part, number) => (part.hasAttribute("data-unpresented") ? [] : [number])),
    };
  }

  present: NonNullable<PageHost["present"]> = (present) => {
    this.presenting = present;
    this.update();
    this.writeAddress(true);
  };

  /** The fragment of the view. */
  get hash() {
    const others = location.hash.slice(1).split("&").filter((pair) => pair && !pair.startsWith("present="));
    const pairs = [...others, ...(this.presenting ? ["present=true"] : [])];
    return pairs.length ? `#${pairs.join("&")}` : "";
  }

  /** A frame that may not change its address keeps it. ``push``: whether Back should return to the view before. */
  writeAddress(push: boolean) {
    if (!this.ownsAddress) return;
    try {
      const address = new URL(this.hash, location.href);
      address.searchParams.delete("present");
      history[push ? "pushState" : "replaceState"]({}, "", address.href);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
    }
  }
}
