// A page of the static site: an exported page, and the search of the index.

import "../../lessons/practice/practice.js";
import "../../lessons/start/lesson.js";
import "../../lessons/story/story.js";
import "./playable.js";
import { findAll } from "../../figures/browser/common/dom.js";
import { ReportButton } from "../../lessons/share/report.js";
import { filterLinks, followTopics, openTopics, showProgress } from "../../parts/browser/list.js";

/** @param {HTMLElement} search */
function wireSearch(search) {
  const filter = () => filterLinks(document, search);
  search.hidden = false;
  search.addEventListener("input", filter);
  window.addEventListener("pageshow", filter); // a browser that goes back keeps the text of the field
}

findAll(document, ".ns-search").forEach(wireSearch);
followTopics(document);
openTopics(document);
window.addEventListener("pageshow", () => showProgress(document));
for (const place of findAll(document, ".ns-report")) new ReportButton(place, place.dataset.to ?? "", () => ({ title: document.title, link: location.href }));
