// A page of the static site: an exported page, and the search of the index.

import "./playable.ts";
import { findAll } from "../../figures/browser/common/dom.ts";
import { ReportButton } from "../../lessons/share/report.ts";
import { filterLinks, followTopics, openTopics, showProgress } from "../../parts/browser/list.ts";

function wireSearch(search: HTMLElement) {
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
