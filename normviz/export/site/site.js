// A page of the static site: an exported page, and the search of the index.

import "../../lessons/browser/practice/practice.js";
import "../../lessons/browser/start/lesson.js";
import "../browser/playable.js";
import { find, findAll } from "../../figures/browser/common/dom.js";
import { ReportButton } from "../../lessons/browser/share/report.js";
import { showProgress } from "../../lessons/browser/questions/progress.js";
import { countFound, showMatching } from "../../lessons/browser/questions/search.js";
import { followTopics, openTopics } from "../../lessons/browser/questions/topics.js";

/** @param {HTMLElement} box */
function wireSearch(box) {
  const field = /** @type {HTMLInputElement} */ (find(box, "input")), status = find(box, "[role=status]"), none = find(document, ".nv-none");
  const items = findAll(document, "[data-words]"), topics = findAll(document, ".ns-topic, .nv-topic");
  const filter = () => {
    for (const place of findAll(document, ".nv-path, .nv-by-topic")) place.hidden = Boolean(field.value.trim());
    const found = showMatching(field.value, items, topics);
    status.textContent = countFound(field.value, found);
    none.hidden = found > 0;
  };
  box.hidden = false;
  field.addEventListener("input", filter);
  window.addEventListener("pageshow", filter); // a browser that goes back keeps the text of the field
}

findAll(document, ".ns-search").forEach(wireSearch);
followTopics(document);
openTopics(document);
window.addEventListener("pageshow", () => showProgress(document));
for (const place of findAll(document, ".ns-report")) new ReportButton(place, place.dataset.to ?? "", () => ({ title: document.title, link: location.href }));
