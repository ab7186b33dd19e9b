// The end of a set: what was right, which confusions came up, and what to read. It can be copied as text, and printed.

import { copyFrom } from "../../figures/browser/common/clipboard.ts";
import { button, html } from "../../figures/browser/common/dom.ts";
import { _, betweenSentences, joinSentences, ngettext } from "../../figures/browser/common/messages.ts";
import { RISING } from "./bank.ts";
import { addLink, answerText, sentenceOf, timeText, writeWithCode } from "./exercise.ts";
import { drawProgress } from "./progress.ts";

export function drawSummary(parent: HTMLElement, results: PracticeResult[], options: SummaryOptions) {
  const { set, addressOf, onRestart, onNew, onHarder } = options, root = html("div", "nv-practice-summary", parent);
  html("h2", "", root, scoreText(results, options), { tabIndex: -1 });
  const found = confusionsOf(results, options.data);
  if (found.length) {
    html("h3", "", root, _("What came up"));
    const list = html("ul", "nv-practice-confusions", root);
    for (const { confusion, count, sentence } of found) {
      const item = html("li", "", list);
      html("strong", "", item, timesText(confusion, count));
      item.append(betweenSentences(), sentence, betweenSentences());
      if (confusion.question) addLink(item, _("Read: {title}", { title: confusion.title }), `/questions?q=${confusion.question}`, addressOf);
      if (!confusion.step) continue;
      const [step, title] = confusion.step;
      item.append(" ");
      addLink(item, _("Start here: {title}", { title }), `/start?step=${step}`, addressOf);
    }
  }
  if (options.isForNewcomers && results.filter(({ isRight }) => isRight).length < results.length / 2) addStartLink(root, addressOf);
  html("h3", "", root, _("Your answers"));
  const list = html("ol", "nv-practice-answers", root);
  for (const result of results) {
    const item = html("li", "", list);
    Object.assign(item.dataset, { result: outcomeOf(result), exercise: result.exercise.id });
    writeWithCode(item, result.exercise.prompt, result.exercise.layer);
    html("div", "nv-small", item, resultText(result));
  }
  drawProgress(root, options.data);
  const actions = html("div", "nv-exercise-actions", root), text = html("textarea", "nv-practice-copied", root);
  Object.assign(text, { readOnly: true, tabIndex: -1, ariaHidden: "true", value: summaryText(results, options) });
  if (onHarder) button("nv-practice-main", actions, _("Go on with level {level}", { level: options.data.levels[Number(set.level) + 1] }), onHarder);
  if (onNew) button(onHarder ? "nv-practice-quiet" : "nv-practice-main", actions, _("New exercises"), onNew);
  if (onRestart) button("nv-practice-quiet", actions, _("Do these again"), onRestart);
  const copy = button("nv-practice-quiet", actions, _("Copy the summary"), () => void copyFrom(copy, text));
  button("nv-practice-quiet", actions, _("Print"), () => window.print());
}

/** A link for a reader who does not know yet what is asked. */
const addStartLink = (parent: HTMLElement, addressOf: (link: string) => string | null) => addLink(html("p", "nv-practice-new", parent), _("New here, or coming from BatchNorm? Start here"), "/start", addressOf);

function scoreText(results: PracticeResult[], { seconds }: SummaryOptions) {
  const counts = results.map(outcomeOf), values = { right: counts.filter((kind) => kind === "right").length, second: counts.filter((kind) => kind === "second").length, count: results.length };
  const score = values.second ? _("{right} of {count} right at the first try, {second} at the second", values) : _("{right} of {count} right at the first try", values);
  return seconds === null ? score : _("{score}, in {time}", { score, time: timeText(seconds) });
}

/** Both tries are counted. */
export const outcomeOf = ({ isRight, tries }: PracticeResult): "right" | "second" | "wrong" => (!isRight ? "wrong" : tries.length > 1 ? "second" : "right");

/** The confusions that the answers follow from, the most frequent first, each with what is true of the last tensor on which it came up. */
function confusionsOf(results: PracticeResult[], { confusions }: PracticeData) {
  const counts = new Map<string, number>();
  const sentences = new Map<string, string>();
  for (const { exercise, confusions: found } of results)
    for (const confusion of found.filter((one) => confusions[one])) {
      counts.set(confusion, (counts.get(confusion) ?? 0) + 1);
      sentences.set(confusion, sentenceOf(confusions[confusion], confusion, exercise));
    }
  return [...counts].sort(([, one], [, other]) => other - one).map(([id, count]) => ({ confusion: confusions[id], count, sentence: sentences.get(id) ?? "" }));
}

function timesText({ name }: PracticeConfusion, count: number) {
  const named = name.charAt(0).toUpperCase() + name.slice(1);
  return count === 1 ? _("{name}.", { name: named }) : ngettext("{name} ({n} time).", "{name} ({n} times).", count, { name: named });
}

function resultText(result: PracticeResult) {
  const { exercise, tries, isRight } = result, answer = tries.map((value) => answerText(value, exercise)).join(_(", then "));
  return isRight ? _("✓ {answer}", { answer }) : _("✗ {answer}; right: {right}", { answer, right: answerText(exercise.answer, exercise) });
}

function summaryText(results: PracticeResult[], options: SummaryOptions) {
  const { set, data, link } = options;
  const head = set.level === RISING ? _("Practice with normviz, a rising set") : _("Practice with normviz, seed {seed}", { seed: set.seed });
  const title = data.title || (data.scorm ? document.title : ""); // of exercises that no link chooses: the address of a page in a course is no link
  const lines = [...(title ? [title] : [head, link]), scoreText(results, options), ""];
  for (const [number, result] of results.entries()) lines.push(`${number + 1}. ${result.exercise.prompt}`, `   ${resultText(result)}`, `   ${result.exercise.id}`);
  const found = confusionsOf(results, data);
  if (found.length) lines.push("", _("What came up"), ...found.map(({ confusion, count }) => `- ${joinSentences([timesText(confusion, count), _("Read: {title}", { title: confusion.title })])}`));
  return lines.join("\n");
}
