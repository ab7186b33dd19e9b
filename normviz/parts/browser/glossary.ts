// Words of the glossary: the first occurrence of each on a page is a button, which explains it in a popover; where the page has enough buttons, it
// explains itself to the pointer.

import { button, findAll, html } from "../../figures/browser/common/dom.ts";

const TERM_PLACES = [".nv-sentence", ".nv-text", ".nv-small", ".nv-note-box", ".nv-reason", ".nv-predict > p", ".nv-start-text", ".nv-start-done", ".nv-exercise-prompt", ".nv-exercise-feedback > p"].map((place) => `.nv-part ${place}`).join();
const NO_TERMS = "a, button, code, pre, h1, h2:not(.nv-exercise-prompt), h3, label, summary, table, .nv-selected, [role=status]:not(.nv-exercise-feedback), .nv-search, .nv-path, .nv-figure";
const TERM_GAP = 6; // px: between a word and its explanation, and between the explanation and the edge of the window

// Letters of scripts that separate words by spaces: a word ends where they end. Chinese has no spaces, so there a word may begin anywhere.
const SPACED_LETTER = "\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Hebrew}\\p{Script=Arabic}\\p{M}\\p{N}_";
const SIGN = /^[^\s\p{L}\p{N}]+/u; // punctuation

/** Whole words, the longest first. */
export function formsPattern(forms: string[]) {
  const longest = [...forms].sort((one, other) => other.length - one.length);
  return forms.length ? new RegExp(`(?<![${SPACED_LETTER}.])(${longest.join("|")})(?![${SPACED_LETTER}(=])`, "giu") : null;
}

export class Glossary {
  terms = new Map<string, Term>(); // by each form, in lower case
  pattern: RegExp | null = null;
  opener: HTMLElement | null = null; // the button whose explanation is open
  quiet = false; // whether the words of the sentence are no buttons
  root: HTMLElement;
  box: HTMLDivElement;
  close;

  constructor(root: HTMLElement) {
    this.root = root;
    this.box = html("div", "nv-definition");
    this.box.popover = "auto"; // Escape and a click elsewhere close it
    this.box.addEventListener("toggle", () => this.box.matches(":popover-open") || this.forget());
    this.close = () => this.box.matches(":popover-open") && this.box.hidePopover();
    document.addEventListener("scroll", this.close, true);
  }

  set(terms: Term[]) {
    this.terms = new Map(terms.flatMap((term) => term.forms.map((form) => [form.toLowerCase(), term])));
    this.pattern = formsPattern([...this.terms.keys()]);
  }

  /** Removes the buttons, so that the page is as its HTML was. Returns the word that had the focus. */
  unmark() {
    const focused = document.activeElement?.closest(".nv-term")?.textContent ?? "";
    for (const word of findAll(this.root, ".nv-term")) {
      const whole = word.closest(".nv-term-end") ?? word, { parentNode } = whole;
      whole.replaceWith(whole.textContent ?? "");
      parentNode?.normalize();
    }
    return focused;
  }

  /** Marks the words again, because a part of the page has drawn something else. */
  markAgain() {
    this.mark(this.unmark());
  }

  /** ``focused``: the word that had the focus before */
  mark(focused: string) {
    if (!this.pattern) return;
    if (!this.box.isConnected) this.root.parentElement?.append(this.box);
    /** By the step of Start here, because the page shows one at a time. */
    const seen = new Map<Element | null, Set<Term>>();
    for (const place of findAll(this.root, TERM_PLACES)) {
      const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT), texts = [];
      while (walker.nextNode()) texts.push(walker.currentNode as Text);
      const step = place.closest(".nv-start-step"), before = seen.get(step) ?? new Set();
      seen.set(step, before);
      for (const text of texts) if (!text.parentElement?.closest(NO_TERMS)) this.markIn(text, before);
    }
    if (focused) findAll(this.root, ".nv-term").find((word) => word.textContent === focused)?.focus();
  }

  markIn(text: Text, seen: Set<Term>) {
    const whole = text.data, parts = [];
    let end = 0;
    for (const found of whole.matchAll(this.pattern as RegExp)) {
      const term = this.terms.get(found[0].toLowerCase());
      if (!term || seen.has(term)) continue;
      seen.add(term);
      const isQuiet = this.quiet && text.parentElement?.closest(".nv-sentence"), start = found.index + found[0].length;
      const word = isQuiet ? abbreviation(found[0], term) : this.word(found[0], term);
      const sign = whole.slice(start).match(SIGN)?.[0] ?? "", shown = sign ? html("span", "nv-term-end") : word;
      if (sign) shown.append(word, sign); // a line may break next to a button, but not between a word and its comma
      parts.push(whole.slice(end, found.index), shown);
      end = start + sign.length;
    }
    if (parts.length) text.replaceWith(...parts, whole.slice(end));
  }

  word(text: string, term: Term): HTMLElement {
    const word = button("nv-term", null, text, () => {});
    word.dataset.term = term.forms[0];
    word.setAttribute("aria-expanded", "false");
    word.popoverTargetElement = this.box;
    word.addEventListener("click", (event) => {
      event.preventDefault(); // the box has the explanation of another word
      const isOpen = this.opener === word;
      this.close();
      if (!isOpen) this.open(word, term);
    });
    return word;
  }

  open(word: HTMLButtonElement, term: Term) {
    this.forget();
    this.opener = word;
    word.setAttribute("aria-expanded", "true");
    this.box.replaceChildren();
    html("strong", "", this.box, term.forms[0]);
    html("p", "", this.box).innerHTML = term.about;
    this.box.setAttribute("aria-label", term.forms[0]);
    this.box.setAttribute("role", "note");
    this.box.showPopover();
    const at = word.getBoundingClientRect(), { offsetWidth: width, offsetHeight: height } = this.box;
    const left = Math.max(TERM_GAP, Math.min(at.left, innerWidth - width - TERM_GAP)), below = at.bottom + TERM_GAP;
    this.box.style.left = `${left}px`;
    this.box.style.top = `${below + height > innerHeight ? Math.max(TERM_GAP, at.top - height - TERM_GAP) : below}px`;
  }

  forget() {
    this.opener?.setAttribute("aria-expanded", "false");
    this.opener = null;
  }

  remove() {
    document.removeEventListener("scroll", this.close, true);
    this.box.remove();
  }
}

function abbreviation(text: string, term: Term) {
  const word = html("abbr", "nv-term", null, text);
  word.dataset.term = term.forms[0];
  word.innerHTML = term.about;
  word.title = word.textContent ?? "";
  word.textContent = text;
  return word;
}
