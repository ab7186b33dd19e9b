// A page as a Streamlit component. Streamlit calls it at every change, and calls what it returned when the page goes.

import { find, html } from "../figures/browser/page/dom.js";
import { applyColors, readMode } from "../figures/browser/page/theme.js";
import { PageView } from "../lessons/browser/page.js";
import { appAddress, pathOf, queryOf } from "../lessons/browser/share/links.js";
import { ShareButton } from "../lessons/browser/share/dialog.js";
import { AppDialog, AppLink } from "../lessons/browser/share/share.js";

/** @typedef {{ share?: any, open?: any }} Sharing */

/** @type {WeakMap<HTMLElement, AppPage>} */
const pages = new WeakMap();

/**
 * Streamlit runs the page of a new address as after Back, without loading the app again.
 * @param {string} address
 */
function openAddress(address) {
  history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

/** @implements {PageHost} */
class AppPage {
  /** @type {PageData & Sharing} */
  data;
  /** @type {((name: string, value: object) => void) | undefined} */
  send;
  /** @type {AppLink | null} */
  open = null;
  /** @type {ShareButton<import("../lessons/browser/share/share.js").ShareData> | null} */
  share = null;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    root.dataset.mounted = "yes";
    this.view = new PageView(html("div", "nv-page", root), this);
    this.followHistory = () => this.showGuessOfAddress();
    window.addEventListener("popstate", this.followHistory);
  }

  /**
   * @param {PageData & Sharing} data
   * @param {Mode} mode
   */
  set(data, mode) {
    this.data = data;
    this.root.dataset.mode = mode;
    applyColors(this.root, mode);
    this.view.set(data, mode);
    if (data.open) (this.open ??= new AppLink(this.root)).set(data.open);
    else this.open = this.open?.remove() ?? null;
    if (data.share) (this.share ??= this.addShare()).set(data.share);
    else this.share = this.share?.remove() ?? null;
  }

  /** @returns {NonNullable<AppPage["share"]>} */
  addShare() {
    const corner = html("div", "nvs-root nvs-corner", this.root);
    return new ShareButton(corner, "nvs-button nvs-opener", (parent, data, onClose) => new AppDialog(parent, data, onClose));
  }

  /**
   * @param {string} page
   * @param {string} query
   */
  address(page, query) {
    return appAddress(this.data.page) + pathOf(page) + query;
  }

  /**
   * An embedded view stays embedded.
   * @param {string} page
   * @param {string} query
   */
  go(page, query) {
    const embedding = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
    openAddress(this.address(page, queryOf([...new URLSearchParams(query), ...embedding])));
    return true;
  }

  /** @param {string} guess */
  guess(guess) {
    const others = [...new URLSearchParams(location.search)].filter(([name]) => name !== "guess");
    openAddress(location.pathname + queryOf([...others, ["guess", guess]]));
  }

  /** After Back, the server may send the data that it sent last, which Streamlit does not pass on. */
  showGuessOfAddress() {
    const query = new URLSearchParams(location.search), asked = this.root.querySelector(`.nv-prediction[data-question="${CSS.escape(query.get("q") ?? "")}"]`);
    const guess = query.get("guess") ?? "";
    if (asked && guess !== this.data.guess) this.view.showGuess(guess);
  }

  destroy() {
    window.removeEventListener("popstate", this.followHistory);
    this.open?.remove();
    this.share?.remove();
    this.view.destroy();
    this.root.replaceChildren();
  }
}

/** @param {ComponentArguments} component */
export default function mount({ parentElement, data, setTriggerValue }) {
  const root = find(parentElement, ".nv-doc"), page = pages.get(root) ?? new AppPage(root);
  pages.set(root, page);
  page.send = setTriggerValue;
  page.set(data, readMode(parentElement));
  return () => {
    page.destroy();
    pages.delete(root);
  };
}
