// The site's index: its search. It shares the scope of the module.

function wireSearch(box) {
  const field = box.querySelector("input"), said = box.querySelector("[role=status]"), none = box.querySelector(".ns-none");
  const items = [...document.querySelectorAll("[data-words]")], topics = [...document.querySelectorAll(".ns-topic")];
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const item of items) {
      item.hidden = !words.every((word) => item.dataset.words.includes(word));
      found += item.hidden ? 0 : 1;
    }
    for (const topic of topics) topic.hidden = !topic.querySelector("[data-words]:not([hidden])");
    said.textContent = words.length ? `${found} found` : "";
    none.hidden = found > 0;
  };
  box.hidden = false;
  field.addEventListener("input", filter);
  window.addEventListener("pageshow", filter); // a browser that goes back keeps what was typed
}

document.querySelectorAll(".ns-search").forEach(wireSearch);
