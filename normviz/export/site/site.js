// A page of the static site: an exported page, and the search of the index.

import "../browser/playable.js";
import { find, findAll } from "../../figures/browser/page/dom.js";
import { ngettext } from "../../figures/browser/page/messages.js";

/** @param {HTMLElement} box */
function wireSearch(box) {
  const field = /** @type {HTMLInputElement} */ (find(box, "input")), status = find(box, "[role=status]"), none = find(box, ".ns-none");
  const items = findAll(document, "[data-words]"), topics = findAll(document, ".ns-topic");
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) item.hidden = !words.every((word) => item.dataset.words?.includes(word));
    for (const topic of topics) topic.hidden = !topic.querySelector("[data-words]:not([hidden])");
    const found = items.filter((item) => !item.hidden).length;
    status.textContent = words.length ? ngettext("{n} found", "{n} found", found) : "";
    none.hidden = found > 0;
  };
  box.hidden = false;
  field.addEventListener("input", filter);
  window.addEventListener("pageshow", filter); // a browser that goes back keeps the text of the field
}

findAll(document, ".ns-search").forEach(wireSearch);
