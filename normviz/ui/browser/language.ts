// The languages of the app: the list in the header, and what the document says about its language.

import { html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { appAddress } from "../../lessons/share/links.ts";
import { withParameter } from "./addresses.ts";

const COOKIE = "normviz-language"; // read by the server

export function applyLanguage({ tag, direction }: ReaderLanguage) {
  const { documentElement: root } = document;
  if (root.lang !== tag) root.lang = tag;
  if (root.dir !== direction) root.dir = direction;
}

/** The next pages have this language too, until the browser is closed. */
function remember(name: string, page: string) {
  document.cookie = `${COOKIE}=${name}; Path=${new URL(appAddress(page)).pathname}; SameSite=Lax`;
}

/** The language of a link holds for the next pages too. */
export function rememberLinked({ name }: ReaderLanguage, page: string) {
  if (new URLSearchParams(location.search).has("lang")) remember(name, page);
}

/** A list of the languages. The page is loaded again in the chosen one, because all of its texts change. */
export function addLanguages(parent: HTMLElement, known: Frame["languages"], shown: ReaderLanguage, page: string) {
  if (known.length < 2) return;
  const list = html("select", "nvs-button nvs-language", parent, "", { ariaLabel: _("Language") });
  for (const [name, text, tag] of known) html("option", "", list, text, { value: name, lang: tag });
  list.value = shown.name;
  list.addEventListener("change", () => {
    remember(list.value, page);
    location.assign(withParameter("lang", list.value));
  });
}
