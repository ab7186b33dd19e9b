// A prediction: the choices or a field for a number, and the verdict that appears with the answer.

function wirePrediction(box) {
  const answer = box.querySelector(":scope > .nv-answer"), verdict = answer.querySelector(":scope > .nv-verdict");
  const judge = () => {
    const guess = answer.open ? guessOf(box) : null;
    verdict.hidden = !guess;
    verdict.replaceChildren();
    if (!guess) return;
    const { correct, predicted, wrong, notANumber } = box.dataset;
    if (guess.isRight === null) return verdict.append(notANumber.replace("{guess}", () => `'${guess.text}'`));
    html("strong", "", verdict, guess.isRight ? correct : predicted.replace("{guess}", () => guess.text));
    if (!guess.isRight) verdict.append(` ${wrong}`);
  };
  answer.addEventListener("toggle", judge);
  box.addEventListener("change", judge);
  box.querySelector(":scope > .nv-predict").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    answer.open = true;
    judge();
  });
}

// The text of the guess and whether it is right; null if there is no guess. isRight is null if a number is asked for and the text is not a number.
function guessOf(box) {
  const predict = box.querySelector(":scope > .nv-predict"), { right } = box.dataset;
  const radio = predict.querySelector("input:checked"), field = predict.querySelector("input[type=text]");
  if (radio) return { text: radio.parentElement.textContent.trim(), isRight: radio.value === right };
  if (!field?.value.trim()) return null;
  const number = readNumber(field.value);
  const isNear = Math.abs(number - Number(right)) <= 1e-6 * Math.max(1, Math.abs(Number(right)));
  return { text: field.value.trim(), isRight: Number.isFinite(number) ? isNear : null };
}

// Like the app, it accepts commas between thousands.
function readNumber(text) {
  const plain = text.replaceAll(",", "").trim();
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}
