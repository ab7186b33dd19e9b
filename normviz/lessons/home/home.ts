// The toy of the front page: toggles color one tensor twice, by who shares a mean and by who shares a gamma, and find the name of the layer.

import { button, findAll, html } from "../../figures/browser/common/dom.ts";
import { formatElement } from "../../figures/browser/common/format.ts";
import { Memory } from "../../figures/browser/common/memory.ts";
import { _, betweenSentences, ngettext, words } from "../../figures/browser/common/messages.ts";
import { indexOf } from "../../figures/browser/tensor/sharing.ts";
import { writePhrases } from "../../figures/browser/text/readout.ts";
import { EXTRAS, type PageView } from "../../parts/browser/page.ts";
import { addPair, type SharingPanel } from "../../parts/browser/sharing_panel.ts";

/** What the reader has pressed, for a reload, for Back, and for the app, which draws the page again. */
const PRESSED = new Memory("sessionStorage", "normviz.toy");
/** The families that the reader has made. */
const MADE = new Memory("localStorage", "normviz.toy.made");
const MOST_NEAR = 3;

class Toy {
  data: ToyData;
  page: PageView;
  standing: Standing;
  made: string[];
  root: HTMLElement;
  means: SharingPanel;
  gamma: SharingPanel;
  center: HTMLButtonElement | null = null;
  verdict: HTMLElement;
  note: HTMLElement;
  goal: HTMLElement;
  stars: HTMLElement;

  constructor(root: HTMLElement, page: PageView) {
    this.root = root;
    this.page = page;
    this.data = JSON.parse(root.dataset.toy ?? "");
    this.standing = readStanding(this.data);
    const known = MADE.read();
    this.made = Array.isArray(known) ? known : [];
    this.fill();
    this.show();
  }

  fill() {
    const { data } = this, goals = html("div", "nv-toy-goals"), panels = html("div", "nv-toy-panels"), bar = html("div", "nv-toy-bar");
    this.goal = html("p", "nv-toy-goal", goals, "", { role: "status" });
    this.stars = html("ul", "nv-toy-stars", goals);
    for (const family of data.goals) html("span", "", html("li", "", this.stars), family);
    ({ means: this.means, gamma: this.gamma } = addPair(panels, data, {
      onPoint: (position) => this.point(position),
      onMeans: (means) => this.press({ ...this.standing, means }),
      onGamma: (gamma) => this.press({ ...this.standing, gamma }),
    }));
    if (data.layers.some(({ standing }) => !standing.center))
      this.center = button("nv-toggle nv-toy-center", this.means.head, _("subtract the mean"), () => this.press({ ...this.standing, center: !this.standing.center })) as HTMLButtonElement;
    this.verdict = html("p", "nv-toy-verdict", bar, "", { role: "status" });
    const links = html("p", "nv-toy-links", bar);
    this.note = html("span", "nv-small", links);
    links.append(...findAll(this.root, ".nv-toy-links > *"));
    this.root.replaceChildren(goals, panels, bar);
  }

  /** The layer of the position of the toggles, if there is one. */
  get layer() {
    return this.data.layers.find(({ standing }) => isSame(standing, this.standing));
  }

  /** That layer, if torch has it. */
  get name() {
    return this.layer?.source ? "" : (this.layer?.name ?? "");
  }

  /** ``makes``: a layer found there is one that the reader has made */
  press(standing: Standing, makes = true) {
    this.standing = standing;
    PRESSED.write(standing);
    const { layer } = this;
    if (makes && layer && this.data.goals.includes(layer.family) && !this.made.includes(layer.family)) MADE.write((this.made = [...this.made, layer.family]));
    this.show();
  }

  show() {
    const { standing, layer, name, data } = this, { means, gamma, center } = standing;
    this.means.set(means);
    this.gamma.set(gamma, !gamma.includes(1));
    this.means.name(center ? _("mean over") : _("mean square over"));
    if (this.center) this.center.ariaPressed = String(center);
    this.root.dataset.layer = name;
    this.verdict.classList.toggle("nv-toy-found", Boolean(name));
    const known = layer?.source ? words(_("{source} has it: {name}."), { source: layer.source, name: { code: layer.name } }) : [];
    const said = words(name ? _("That is {layer}.") : _("Not a layer of torch for {axes}."), { layer: { code: name }, axes: `(${data.names.join(", ").toUpperCase()})` });
    writePhrases(this.verdict, [[...said, betweenSentences(), ...known]]);
    if (!layer) this.offerNearest();
    this.note.textContent = noteOn(standing);
    this.showGoals();
    this.point(null);
    this.linkTo(queryOf(data, standing, layer?.name));
  }

  /** The link to Explore opens the same position, where there is an app. */
  linkTo(query: string) {
    const address = this.page.host.address?.("explore", query);
    for (const link of findAll(this.root, ".nv-toy-explore")) {
      if (!address) return;
      link.dataset.query = query;
      link.setAttribute("href", address);
    }
  }

  /** The names of the layers that have the same means or, if none has them, of those to which the fewest presses lead. */
  offerNearest() {
    const { isSame, layers } = nearest(this.data.layers, this.standing), [before, after] = (isSame ? _("Same means: {layers}") : _("Nearest: {layers}")).split("{layers}");
    const place = html("span", "nv-toy-near", this.verdict, before);
    for (const { name, standing } of layers.slice(0, MOST_NEAR)) button("nv-toy-name", place, name, () => this.jump(standing));
    place.append(after);
  }

  /** Shows a layer that the reader has not made. */
  jump(standing: Standing) {
    this.press(standing, false);
    this.means.toggles.buttons[0].root.focus({ preventScroll: true }); // the pressed button is gone
  }

  showGoals() {
    const { goals } = this.data, next = goals.find((family) => !this.made.includes(family));
    this.goal.textContent = next ? _("Make {family}.", { family: next }) : _("You have made all of them.");
    findAll(this.stars, "li").forEach((star, number) => {
      const family = goals[number], isMade = this.made.includes(family);
      star.dataset.made = String(isMade);
      star.title = star.ariaLabel = isMade ? _("{family}: made", { family }) : family;
    });
    for (const link of findAll(this.root, ".nv-toy-more")) link.hidden = Boolean(next);
  }

  /** The captions count what is shared, or say with how many others an element shares it. */
  point(position: number | null) {
    const { center, gamma } = this.standing, { shape } = this.data, element = position === null ? "" : formatElement("x", indexOf(position, shape));
    for (const panel of [this.means, this.gamma]) panel.point(position);
    const [ofMeans, ofGamma] = [this.means, this.gamma].map((panel) => ({ n: panel.count, size: panel.size, others: panel.size - 1 }));
    this.means.caption.textContent = position !== null
      ? (center ? ngettext("{element}: same mean as {n} other", "{element}: same mean as {n} others", ofMeans.others, { element })
        : ngettext("{element}: same mean square as {n} other", "{element}: same mean square as {n} others", ofMeans.others, { element }))
      : ofMeans.size === 1 ? (center ? _("a mean for each element") : _("a mean square for each element"))
      : center ? ngettext("{n} mean of {size} elements", "{n} means, each of {size} elements", ofMeans.n, { size: ofMeans.size })
      : ngettext("{n} mean square of {size} elements", "{n} mean squares, each of {size} elements", ofMeans.n, { size: ofMeans.size });
    this.gamma.caption.textContent = !gamma.includes(1) ? _("no gamma")
      : position !== null ? ngettext("{element}: same gamma as {n} other", "{element}: same gamma as {n} others", ofGamma.others, { element })
      : ofGamma.size === 1 ? _("a gamma for each element")
      : ngettext("{n} gamma for {size} elements", "{n} gammas, each for {size} elements", ofGamma.n, { size: ofGamma.size });
  }
}

const isSame = (one: Standing, other: Standing) => distance(one, other) === 0;

/** How many presses lead from one position of the toggles to another. */
export function distance(one: Standing, other: Standing) {
  const differ = (a: number[], b: number[]) => a.filter((value, axis) => value !== b[axis]).length;
  return differ(one.means, other.means) + differ(one.gamma, other.gamma) + Number(one.center !== other.center);
}

/** The layers with their usual options that have the same means as a position of the toggles; if none has, the nearest ones. */
export function nearest(layers: ToyLayer[], standing: Standing) {
  const usual = layers.filter(({ usual, source }) => usual && !source), same = usual.filter((layer) => isSame({ ...layer.standing, gamma: standing.gamma }, standing));
  const least = Math.min(...usual.map((layer) => distance(layer.standing, standing)));
  return { isSame: same.length > 0, layers: same.length ? same : usual.filter((layer) => distance(layer.standing, standing) === least) };
}

/** What is true of the two rows. */
function noteOn({ means, gamma, center }: Standing) {
  if (!means.some(Boolean)) return center ? _("Nothing is averaged: each element minus itself is 0.") : _("Nothing is averaged: each element is divided by its own size.");
  if (means.every((one, axis) => one === gamma[axis])) return _("The same axes in both rows.");
  if (means.every((one, axis) => one === 1 - gamma[axis])) return _("Each axis is in one of the two rows.");
  return "";
}

/** The query of the same layer on the same tensor, or of the pattern without a name. */
export function queryOf({ shape, names }: Pick<ToyData, "shape" | "names">, { means, gamma, center }: Standing, name = "") {
  const groups = Math.max(...means), own = names.filter((_name, axis) => gamma[axis]).join(" ");
  const left = names.map((axis, i) => (means[i] > 1 ? "(g k)" : axis)).join(" "), kept = names.flatMap((axis, i) => (means[i] > 1 ? ["g"] : means[i] ? [] : [axis])).join(" ");
  const options = [...(own ? [`'${own}'`] : []), ...(center ? [] : ["center=False", ...(own ? ["bias=False"] : [])]), ...(groups > 1 ? [`sizes={'g':${groups}}`] : [])];
  return `?shape=${shape.join()}&layer=${encodeURIComponent(name.replaceAll(" ", "") || `Norm(${[`'${left} -> ${kept}'`, ...options].join()})`)}`;
}

/** How the toggles stand that the reader has left; else as the page opens. */
function readStanding({ first, steps }: ToyData): Standing {
  const kept = PRESSED.read() as Standing | null, isRow = (row: unknown) => Array.isArray(row) && row.length === steps.length;
  const isKept = kept && isRow(kept.means) && isRow(kept.gamma) && kept.means.every((one, axis) => steps[axis].includes(one)) && kept.gamma.every((one) => one === 0 || one === 1);
  return isKept ? { means: kept.means, gamma: kept.gamma, center: kept.center !== false } : first;
}

EXTRAS.set(".nv-toy", Toy);

const FOCUSABLE = ".nv-toy :is(button, [tabindex])";

/** The number of the element that has the focus; -1: none. */
export const focusedOfToy = (page: HTMLElement) => findAll(page, FOCUSABLE).findIndex((element) => element.matches(":focus"));

/** Moves the focus to the same element of a later drawing. */
export const focusToy = (page: HTMLElement, number: number) => findAll(page, FOCUSABLE)[number]?.focus({ preventScroll: true });
