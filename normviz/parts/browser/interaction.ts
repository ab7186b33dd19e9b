// Tabs, copy buttons, links, predictions and the colors of code, in the HTML of a page. One listener on the page serves all of them.

import { copyFrom } from "../../figures/browser/common/clipboard.ts";
import { find, findAll, html } from "../../figures/browser/common/dom.ts";
import { markedLines } from "../../figures/browser/text/marks.ts";
import { commit, judge, refuse, resultOf } from "./prediction.ts";
import { filterLinks, needsServer, type Result } from "./list.ts";

const PYTHON = /(#.*)|("""[\s\S]*?"""|"[^"\n]*"|'[^'\n]*')|\b(as|def|else|for|from|if|import|in|lambda|not|return|None|True|False)\b|\b(\d[\d._]*(?:e[-+]?\d+)?)\b/g;
const PAUSE = 400; // ms: a text that only the server understands is sent after so long without typing
const TOKENS = ["comment", "string", "word", "number"];

/**
 * @param follow opens a link; false: the browser opens it
 * @param predicted Called when a reader
 *   opens the answer to a question, with or without a guess, or changes the guess while the answer is open. ``result`` says how the answer was
 *   opened; it is null after a change of the guess.
 * @param searched a reader has finished typing, or has pasted, this search
 */
export function listen(root: HTMLElement, follow: (link: HTMLElement) => boolean, predicted: (guess: string, question: string, result: Result | null) => void, searched: (text: string) => void) {
  let pause = 0;
  root.addEventListener("click", (event) => {
    const target = event.target as Element;
    const tab = target.closest(".nv-heads > [role=tab]") as HTMLElement | null;
    const copy = target.closest(".nv-copy") as HTMLElement | null;
    const link = target.closest("a.nv-go") as HTMLElement | null;
    if (tab) openTab(tab);
    if (copy) copyFrom(copy, find(copy.parentElement as HTMLElement, "code"));
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
    if (link && isPlain && follow(link)) event.preventDefault();
  });
  root.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (target.matches(".nv-heads > [role=tab]")) moveBetweenTabs(target, event);
    const box = target.closest(".nv-prediction") as HTMLElement | null;
    if (box && event.key === "Enter" && target.matches(".nv-predict input[type=text]")) commit(box);
  });
  root.addEventListener("input", (event) => {
    const box = (event.target as Element).closest(".nv-prediction") as HTMLElement | null;
    if (box) refuse(box, ""); // the reader is correcting the guess
  });
  for (const name of ["input", "change"])
    root.addEventListener(name, (event) => {
      const field = event.target as HTMLInputElement;
      if (!field.matches(".nv-search > input")) return;
      filterLinks(root);
      const text = field.value.trim(), isPasted = event instanceof InputEvent && event.inputType === "insertFromPaste";
      clearTimeout(pause);
      if (name === "change" || isPasted) searched(text);
      else if (needsServer(text, root)) pause = window.setTimeout(() => searched(text), PAUSE);
    });
  for (const name of ["change", "toggle"])
    root.addEventListener(name, (event) => {
      const box = (event.target as Element).closest(".nv-prediction") as HTMLElement | null;
      if (!box) return;
      const guess = judge(box), isOpened = event.type === "toggle" && event.target instanceof HTMLDetailsElement && event.target.matches(".nv-answer[open]");
      const result = isOpened ? resultOf(box) : null;
      if (guess || result === "opened") predicted(guess, box.dataset.question ?? "", result);
    }, true); // "toggle" does not bubble
}

const TO_NEXT = ".nv-tour-next, .nv-present .nv-exercise-checked .nv-practice-main, .nv-present .nv-start-go:not([hidden])", TO_BACK = ".nv-tour-back", TO_LEAVE = ".nv-tour-leave, .nv-leave";
const TO_TELL = ".nv-present .nv-answer > summary, .nv-present .nv-exercise-actions > .nv-practice-quiet, .nv-present .nv-start-foot > .nv-button:not([hidden]), .nv-tell";
const FIELDS = "input, select, textarea", OWN_ARROWS = `${FIELDS}, [role=tab], [tabindex='0']:not(a)`, OWN_SPACE = `${OWN_ARROWS}, button, summary`;
/** For each key, what it presses, and where it has another use. */
const PRESSES: Record<string, [string, string]> = {
  ArrowRight: [TO_NEXT, OWN_ARROWS], ArrowLeft: [TO_BACK, OWN_ARROWS], PageDown: [TO_NEXT, FIELDS], PageUp: [TO_BACK, FIELDS], " ": [TO_TELL, OWN_SPACE],
  Escape: [TO_LEAVE, "input:not([type=radio], [type=range]), select, textarea, :has(:popover-open)"],
};

/** A clicker and the arrow keys go through a tour, the space key shows the answer on a projector, Escape leaves both, except where the key has another use. */
export function pressLink(event: KeyboardEvent, root: HTMLElement) {
  const [way, used] = PRESSES[event.key] ?? [], target = event.target as HTMLElement;
  if (!way || event.ctrlKey || event.metaKey || event.altKey || target.closest(used)) return;
  const link = root.querySelector(way) as HTMLElement | null;
  if (!link) return;
  event.preventDefault();
  link.click();
}

const headsOf = (tab: HTMLElement) => findAll(tab.parentElement as HTMLElement, ":scope > [role=tab]");

function openTab(tab: HTMLElement) {
  for (const head of headsOf(tab)) head.setAttribute("aria-selected", String(head === tab));
  showOpenTabs(tab.closest(".nv-tabs") as HTMLElement);
}

function moveBetweenTabs(tab: HTMLElement, event: KeyboardEvent) {
  const heads = headsOf(tab), at = heads.indexOf(tab);
  const targets = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: heads.length - 1 } as Record<string, number>;
  if (!(event.key in targets)) return;
  const next = heads[(targets[event.key] + heads.length) % heads.length];
  openTab(next);
  next.focus();
  event.preventDefault();
}

/** Shows the content of the selected tab; of the first, if the selected one is gone. */
export function showOpenTabs(tabs: HTMLElement) {
  const heads = findAll(tabs, ":scope > .nv-heads > [role=tab]"), bodies = findAll(tabs, ":scope > .nv-tab");
  const open = Math.max(0, heads.findIndex((head) => head.getAttribute("aria-selected") === "true"));
  heads.forEach((head, i) => {
    head.setAttribute("aria-selected", String(i === open));
    head.tabIndex = i === open ? 0 : -1;
    bodies[i].hidden = i !== open;
  });
}

/**
 * Colors comments, strings, keywords and numbers of Python. Marks the parts of a layer's program that light cells.
 * @param terms of the layer
 */
export function colorCode(code: HTMLElement, terms: string[]) {
  if (code.firstElementChild) return; // colored already
  const { flavor } = code.dataset, text = code.textContent ?? "";
  if (!flavor) return code.replaceChildren(...colored(text));
  const lines = markedLines(text, terms, flavor === "loops").map((line) => line.flatMap(({ lights, text: part }) => {
    if (!lights) return colored(part);
    const term = html("span", "", null, "", { tabIndex: -1 });
    term.dataset.lights = lights;
    term.append(...colored(part));
    return [term];
  }));
  code.replaceChildren(...lines.flatMap((line, number) => (number ? ["\n", ...line] : line)));
  code.querySelector("[data-lights]")?.setAttribute("tabindex", "0");
}

function colored(text: string): (string | HTMLElement)[] {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(PYTHON)) {
    const kind = TOKENS.find((name, i) => found[i + 1] !== undefined);
    parts.push(text.slice(end, found.index), html("span", `nv-py-${kind}`, null, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}
