// The settings of a set of exercises, and the link to hand it out.

import { copyFrom } from "../../../../figures/browser/page/clipboard.js";
import { button, findAll, html, uniqueNumber } from "../../../../figures/browser/page/dom.js";
import { _ } from "../../../../figures/browser/page/messages.js";

const NEW_SEEDS = 10_000; // few digits: a teacher may say the seed aloud

export class SetForm {
  /**
   * @param {HTMLElement} head above the exercise
   * @param {PracticeData} data
   * @param {(set: PracticeSet, timed: boolean) => void} onOpen
   * @param {(set: PracticeSet, timed: boolean) => string} linkOf
   */
  constructor(head, data, onOpen, linkOf) {
    this.data = data;
    this.onOpen = onOpen;
    this.linkOf = linkOf;
    this.opener = button("nv-practice-quiet nv-set-opener", head, _("Choose exercises"), () => this.toggle());
    this.root = html("form", "nv-set");
    Object.assign(this.root, { hidden: true, noValidate: true, id: `nv-set-${uniqueNumber()}` });
    this.opener.setAttribute("aria-controls", this.root.id);
    this.opener.ariaExpanded = "false";
    head.after(this.root);
    this.topics = this.addChoices(_("Topics, all if you choose none"), "checkbox", data.topics);
    this.levels = this.addChoices(_("Level"), "radio", [["0", _("all")], ...Array.from({ length: data.levels }, (_one, n) => /** @type {[string, string]} */ ([String(n + 1), String(n + 1)]))]);
    const numbers = html("div", "nv-set-numbers", this.root);
    this.count = this.addNumber(numbers, _("Exercises"), 1, data.most);
    this.seed = this.addNumber(numbers, _("Seed"), 0, data.largest);
    this.timed = this.addSwitch(numbers, _("Show the time"));
    const actions = html("div", "nv-set-actions", this.root);
    button("nv-practice-main", actions, _("Start"), () => {}).type = "submit";
    button("nv-practice-quiet", actions, _("New exercises"), () => this.openNew());
    this.addLink();
    this.root.addEventListener("input", () => this.updateLink());
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      this.toggle(false);
      onOpen(this.chosen, this.timed.checked);
    });
  }

  /** @param {boolean} [open] */
  toggle(open = Boolean(this.root.hidden)) {
    this.root.hidden = !open;
    this.opener.ariaExpanded = String(open);
    if (open) this.updateLink();
  }

  /**
   * @param {string} title
   * @param {"checkbox" | "radio"} type
   * @param {[string, string][]} options
   */
  addChoices(title, type, options) {
    const group = html("fieldset", "nv-set-choices", this.root), name = `nv-set-${uniqueNumber()}`;
    html("legend", "", group, title);
    for (const [value, text] of options) {
      const label = html("label", "nv-set-choice", group), input = html("input", "", label);
      Object.assign(input, { type, name, value });
      html("span", "", label, text);
    }
    return group;
  }

  /**
   * @param {HTMLElement} parent
   * @param {string} text
   * @param {number} low
   * @param {number} high
   */
  addNumber(parent, text, low, high) {
    const label = html("label", "nv-set-number", parent, text), input = html("input", "", label);
    Object.assign(input, { type: "number", inputMode: "numeric", min: String(low), max: String(high), step: "1" });
    return input;
  }

  /**
   * @param {HTMLElement} parent
   * @param {string} text
   */
  addSwitch(parent, text) {
    const label = html("label", "nv-set-choice", parent), input = html("input", "", label);
    input.type = "checkbox";
    html("span", "", label, text);
    return input;
  }

  addLink() {
    const box = html("div", "nv-set-link", this.root), label = html("label", "", box, _("Link to this set: everyone gets the same exercises"));
    this.link = html("textarea", "", label);
    Object.assign(this.link, { readOnly: true, rows: 1 });
    const copy = button("nv-practice-quiet", box, _("Copy"), () => void copyFrom(copy, /** @type {HTMLElement} */ (this.link)));
  }

  updateLink() {
    if (this.link) this.link.value = this.linkOf(this.chosen, this.timed.checked);
  }

  /**
   * @param {PracticeSet} set that is shown
   * @param {boolean} timed
   */
  set({ seed, count, topics, level }, timed) {
    for (const input of inputsOf(this.topics)) input.checked = topics.includes(input.value);
    for (const input of inputsOf(this.levels)) input.checked = input.value === String(level);
    [this.seed.value, this.count.value, this.timed.checked] = [String(seed), String(count), timed];
    this.updateLink();
  }

  /** @returns {PracticeSet} */
  get chosen() {
    const { most, largest } = this.data, chosen = inputsOf(this.topics).filter(({ checked }) => checked).map(({ value }) => value);
    return {
      seed: wholeNumber(this.seed, 0, largest), count: wholeNumber(this.count, 1, most),
      topics: chosen.length === this.data.topics.length ? [] : chosen, level: Number(inputsOf(this.levels).find(({ checked }) => checked)?.value ?? 0),
    };
  }

  // Other exercises with the same settings.
  openNew() {
    const { seed } = this.chosen, other = Math.floor(Math.random() * NEW_SEEDS);
    this.toggle(false);
    this.onOpen({ ...this.chosen, seed: other === seed ? other + 1 : other }, this.timed.checked);
  }
}

/** @param {HTMLElement} group */
const inputsOf = (group) => /** @type {HTMLInputElement[]} */ (findAll(group, "input"));

/**
 * @param {HTMLInputElement} input
 * @param {number} low
 * @param {number} high
 */
const wholeNumber = (input, low, high) => Math.min(high, Math.max(low, Math.round(Number(input.value)) || 0));
