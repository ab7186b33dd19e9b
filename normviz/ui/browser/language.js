// The languages of the app: the list in the header, and what the document says about its language.

import { html } from "../../figures/browser/common/dom.js";
import { _ } from "../../figures/browser/common/messages.js";
import { appAddress } from "../../lessons/share/links.js";
import { withParameter } from "./addresses.js";

/** @typedef {{ name: string, tag: string, direction: string }} Language ``name``: in a link; ``tag`` and ``direction``: of the document */
/** @typedef {[string, string, string][]} Languages for each its name in a link, its name in the language itself, and its tag */

const COOKIE = "normviz-language"; // read by the server

/** @param {Language} shown */
export function applyLanguage({ tag, direction }) {
  const { documentElement: root } = document;
  if (root.lang !== tag) root.lang = tag;
  if (root.dir !== direction) root.dir = direction;
}

/**
 * The next pages have this language too, until the browser is closed.
 * @param {string} name
 * @param {string} page that is shown
 */
function remember(name, page) {
  document.cookie = `${COOKIE}=${name}; Path=${new URL(appAddress(page)).pathname}; SameSite=Lax`;
}

/**
 * The language of a link holds for the next pages too.
 * @param {Language} shown
 * @param {string} page
 */
export function rememberLinked({ name }, page) {
  if (new URLSearchParams(location.search).has("lang")) remember(name, page);
}

/**
 * A list of the languages. The page is loaded again in the chosen one, because all of its texts change.
 * @param {HTMLElement} parent
 * @param {Languages} known
 * @param {Language} shown
 * @param {string} page
 */
export function addLanguages(parent, known, shown, page) {
  if (known.length < 2) return;
  const list = html("select", "nvs-button nvs-language", parent);
  list.setAttribute("aria-label", _("Language"));
  for (const [name, text, tag] of known) {
    const option = html("option", "", list, text);
    option.value = name;
    option.lang = tag;
  }
  list.value = shown.name;
  list.addEventListener("change", () => {
    remember(list.value, page);
    location.assign(withParameter("lang", list.value));
  });
}
