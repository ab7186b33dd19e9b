// The site's own: the index' search, and the verdict on a prediction. It stands in the module's own scope.

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

// As the app reads a number: thousands may be parted by commas.
function readNumber(text) {
  const plain = text.replaceAll(",", "").trim();
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

// The guess as it was worded, and whether it is right; null where there is none, right null where it is no number.
function guessOf(box) {
  const radio = box.querySelector("input:checked"), field = box.querySelector("input[type=text]"), { right } = box.dataset;
  if (radio) return { told: radio.parentElement.textContent.trim(), right: radio.value === right };
  if (!field?.value.trim()) return null;
  const number = readNumber(field.value);
  return { told: field.value.trim(), right: Number.isFinite(number) ? Math.abs(number - Number(right)) <= 1e-6 * Math.max(1, Math.abs(Number(right))) : null };
}

function wireAnswer(answer) {
  const box = document.querySelector(".ns-predict"), verdict = answer.querySelector(".ns-verdict"), { yes, expected, but, unread } = box.dataset;
  const judge = () => {
    const guess = answer.open ? guessOf(box) : null;
    verdict.hidden = !guess;
    verdict.replaceChildren();
    if (!guess) return;
    if (guess.right === null) return verdict.append(unread.replace("{}", () => `'${guess.told}'`));
    html("strong", "", verdict, guess.right ? yes : expected.replace("{}", () => guess.told));
    if (!guess.right) verdict.append(` ${but}`);
  };
  answer.addEventListener("toggle", judge);
  box.addEventListener("change", judge);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    answer.open = true;
    judge();
  });
}

document.querySelectorAll(".ns-search").forEach(wireSearch);
document.querySelectorAll(".ns-answer").forEach(wireAnswer);
