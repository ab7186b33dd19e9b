// A file in which a reader chooses among the views that it has. The fragment of the address holds the view: #layer=BatchNorm2d(3)&at=1,2,0,3.

import { findAll, html } from "../../figures/browser/common/dom.ts";
import { _, betweenSentences } from "../../figures/browser/common/messages.ts";
import { afterMove, movedGrid } from "../../figures/browser/tensor/slices.ts";
import { pressOf } from "../../figures/browser/panels/toggles.ts";
import { CARDS } from "../../figures/browser/views/compare.ts";
import { ControlBar } from "../../lessons/browser/control_bar.ts";
import { ShareButton } from "../../lessons/share/dialog.ts";
import { FileDialog, type FileShare } from "../../lessons/share/file_dialog.ts";
import { pathOf, queryOf } from "../../lessons/share/links.ts";
import { addProjectorButton } from "../../parts/browser/page.ts";
import { Still, type Settings } from "./still.ts";
import { optionOf, unpackViews, viewNumber, type PlayableView } from "./views.ts";

const LARGEST_SCALE = 3; // equals normviz.scene.scene.LARGEST_SCALE

const showsX = ({ grid, name = "x" }: FigureData & { name?: string }) => Boolean(grid) && name === "x"; // a Jacobian has another name

/** ``text``: such as "0,8,0,0" */
const readNumbers = (text: string | null) => (text && /^\d+(,\d+)*$/.test(text) ? text.split(",").map(Number) : undefined);

const readChoice = (gamma: string | null, beta: string | null, figures: FigureData[]): GammaBetaChoice | null => {
  const unchanged = figures.some(({ params }) => params?.zero_centered_gamma) ? 0 : 1;
  const choice = { gamma: Number(gamma ?? unchanged), beta: Number(beta ?? 0) };
  return (gamma ?? beta) !== null && Object.values(choice).every((value) => Math.abs(value) <= LARGEST_SCALE) ? choice : null;
};

export class Player extends Still {
  /** The version of the data that it reads. */
  static VERSION = 2;
  number = 0; // the number of the view that is shown
  at?: Index | null; // the element that the reader has selected; undefined: the view's own
  step?: number; // the step that the reader has chosen
  cards?: Cards; // what the reader has chosen to see of each layer
  trained?: Trained; // the trained networks that the reader has chosen
  choice: GammaBetaChoice | null = null; // one gamma and one beta for all elements; null: those of the view
  start?: number[]; // the first drawn slices of a large tensor, if the reader has moved them
  figures: FigureData[] = []; // that are shown
  title = document.title; // the title of the file, which names its first view
  packed: FileViews;
  views: PlayableView[];
  notice: HTMLParagraphElement;
  bar: ControlBar;
  fixed: HTMLParagraphElement;
  share?: ShareButton<FileShare>;

  /** Adds the controls. */
  constructor(root: HTMLElement, settings: Settings, show: Still["show"], packed: FileViews) {
    super(root, settings, show);
    this.packed = packed;
    this.views = unpackViews(packed);
    this.notice = html("p", "nv-note-box nv-no-view", null, "", { role: "status" });
    this.bar = new ControlBar(root, (key, value) => this.choose(key, value), () => this.open(0));
    this.bar.root.after(this.notice);
    this.fixed = this.addFixedLine();
    this.share = this.addShare();
    if (this.projector) addProjectorButton("nv-control-button nv-control-projector", this.bar.tools, this);
  }

  // Says why sizes are gray, which a reader cannot change.
  addFixedLine() {
    const line = html("p", "nv-small nv-control-fixed", this.bar.root, _("The sizes in gray are fixed in this file."));
    if (this.packed.app) line.append(betweenSentences(), html("a", "", null, _("Change them in the app")));
    return line;
  }

  addShare(): ShareButton<FileShare> | undefined {
    if (this.settings.present || (!this.ownsAddress && !this.packed.app)) return undefined;
    const place = html("div", "nvs-root", this.bar.tools);
    return new ShareButton(place, "nv-control-button", (parent, data, onClose) => new FileDialog(parent, data, onClose));
  }

  // The address of the view, which Share shows.
  updateShare() {
    const { ownsAddress, packed: { page } } = this, title = this.view.title ?? document.title;
    this.share?.set({ page, title, isFile: ownsAddress, link: ownsAddress ? new URL(this.hash, location.href).href : this.appAddress() });
  }

  get view() {
    return this.views[this.number];
  }

  read(asked: URLSearchParams) {
    const { number, found } = viewNumber(this.packed, this.views, asked), at = asked.get("at"), step = asked.get("step"), from = asked.get("from");
    this.number = number;
    this.at = at === "none" ? null : readNumbers(at);
    this.start = readNumbers(from);
    this.settleStart();
    if (this.start && this.at === undefined && this.grid) this.moveTo(this.start, this.grid);
    this.step = step && /^\d$/.test(step) ? Number(step) : undefined;
    this.cards = CARDS.find((kind) => kind === asked.get("cards")) as Cards | undefined;
    this.trained = this.readTrained(asked.get("norm"), asked.get("batch"));
    this.choice = readChoice(asked.get("gamma"), asked.get("beta"), this.view.figures);
    const other = this.at && this.view.figures.some((figure) => this.isOfAnother(figure, this.at));
    if (other) this.at = undefined;
    this.update();
    const isLost = from && !this.start && from !== String(this.grid?.indices.map(([first]) => first));
    if (!found || other || isLost) this.writeNotice(queryOf([...asked]));
  }

  /** The file has no view for this query. */
  writeNotice(query: string) {
    this.notice.hidden = false;
    this.notice.textContent = _("This file has no answer for {query}.", { query: decodeURIComponent(query.slice(1)) });
    if (!this.packed.app) return;
    const link = html("a", "", null, _("Open it in the app"));
    link.href = `${this.packed.app}/${pathOf(this.packed.page)}${query}`;
    this.notice.append(betweenSentences(), link);
  }

  choose(key: string, value: unknown) {
    const inputs = this.view.rows.flatMap((row) => [...row.inputs, ...row.more.flat()]);
    const input = inputs.find((one) => one.key === key), to = input?.to[optionOf(input, value)];
    if (to === undefined || to === this.number) return this.bar.set(this.view.rows, this.view.title);
    this.follow(to);
  }

  /** ``to`` a view, in which what the reader selected stays */
  follow(to: number) {
    if (this.view.figures.some(({ layer }, figure) => layer !== this.views[to].figures[figure]?.layer)) this.choice = null;
    this.number = to;
    this.update();
    this.writeAddress(true);
  }

  /** Opens a stop of a tour. */
  go(page: string, query: string) {
    const stop = new URLSearchParams(query).get("stop"), to = this.views.findIndex(({ state }) => state.stop === stop);
    if (!stop || to < 0) return false;
    this.open(to);
    return true;
  }

  // The kernel answers instead.
  leave() {
    this.bar.root.remove();
    this.notice.remove();
  }

  resume() {
    this.bar.attach(this.root);
    this.bar.root.after(this.notice);
    this.update();
  }

  /** ``number`` of a view, which is shown as it was made */
  open(number: number) {
    this.number = number;
    this.at = this.step = this.cards = this.trained = this.start = undefined;
    this.choice = null;
    this.update();
    this.writeAddress(true);
  }

  update() {
    const { rows, figures, title, parts, presented } = this.view;
    this.notice.hidden = true;
    this.bar.set(rows, title);
    this.bar.root.hidden = this.presenting;
    this.writeTitle();
    this.fixed.hidden = !rows.some(({ inputs, more }) => [...inputs, ...more.flat()].some(({ why }) => why));
    this.settleStart();
    this.figures = figures.map((figure) => this.live(figure));
    this.show({ page: this.packed.page, parts, presented, figures: this.figures });
    this.selected();
  }

  // The title of the tab and the heading for screen readers name the view that is shown. A title that the author of the file chose stays in it.
  writeTitle() {
    const { number, title, view } = this, name = title.endsWith(" · normviz") ? "normviz" : title;
    if (!this.ownsAddress || !view.title) return;
    document.title = number ? `${view.title} · ${name}` : title;
    const heading = document.querySelector("h1.nv-name");
    if (heading) heading.textContent = document.title;
  }

  /** The networks of the address, if the view has them. */
  readTrained(norm: string | null, batch: string | null): Trained | undefined {
    const figure = this.view.figures.find(({ kind }) => kind === "training") as TrainingData | undefined;
    if (!figure || (norm ?? batch) === null) return undefined;
    const trained = { norm: norm ?? figure.trained.norm, batch: batch ?? figure.trained.batch };
    return `${trained.norm} ${trained.batch}` in figure.cells ? trained : undefined;
  }

  /** How x is drawn, if it is. */
  get grid() {
    return this.view.figures.find(showsX)?.grid;
  }

  // The slices that the reader has moved are kept where the view has them, and forgotten if they are its own.
  settleStart() {
    const { grid, start } = this, own = grid?.indices.map(([first]) => first);
    const moved = start && grid && start.length === own?.length ? movedGrid(grid, start).indices.map(([first]) => first) : undefined;
    this.start = String(moved) === String(own) ? undefined : moved;
  }

  /** The slices of x that are drawn. */
  get drawn() {
    return this.grid && this.start ? movedGrid(this.grid, this.start) : this.grid;
  }

  /** The selected element. */
  get selectedAt() {
    return this.at === undefined ? this.view.figures.map((figure) => (figure as { at?: Index | null }).at).find(Boolean) : this.at;
  }

  /** The figure with what the reader has selected in it, if the view has it. */
  live(figure: FigureData & { at?: Index | null, step?: number, cards?: Cards, trained?: Trained, choice?: GammaBetaChoice | null, presses?: Record<string, number> }) {
    const { alone, ...live } = figure, shape = figure.grid?.shape ?? [];
    if (this.at && "at" in figure && !(this.at.length === shape.length && this.at.every((at, axis) => at < shape[axis]))) this.at = undefined;
    if (this.at !== undefined && "at" in figure) live.at = this.at;
    if (this.step !== undefined && "step" in figure) live.step = this.step;
    if (this.cards && "cards" in figure) live.cards = this.cards;
    live.presses = this.view.toggles;
    if (this.trained && "trained" in figure) live.trained = this.trained;
    if (showsX(figure)) live.start = this.start ?? null;
    if ("scaled" in figure) live.choice = this.choice;
    return live;
  }

  /** Whether the figure shows the numbers of another element than the selected one. */
  isOfAnother(figure: FigureData & { at?: Index | null }, at: Index | null | undefined) {
    return Boolean(figure.of_element && at && String(at) !== String(figure.at));
  }

  // Writes the selected element in sentences, and the view in links to the app.
  selected() {
    const at = this.selectedAt;
    for (const place of findAll(this.root, ".nv-selected")) {
      if (at) place.textContent = at.join(", ");
      (place.closest(".nv-sentence") as HTMLElement).hidden = !at;
    }
    for (const link of findAll(document, ".nv-app-link, .nv-control-fixed a")) link.setAttribute("href", this.appAddress());
    this.updateShare();
  }

  /** What the reader does in a figure. */
  send = (name: string, value: any) => {
    if (name === "toggle") return this.follow(this.view.toggles?.[pressOf(value)] ?? this.number);
    if (name === "select" && this.view.figures.some((figure) => this.isOfAnother(figure, value.at)))
      return this.writeNotice(queryOf([...Object.entries(this.view.query), ["at", value.at.join()]]));
    if (name === "select" || name === "edit") this.at = value.at;
    if (name === "scale") this.choice = value.gamma === null ? null : { gamma: value.gamma, beta: value.beta ?? 0 };
    if (name === "step") this.step = value.step;
    if (name === "cards") this.cards = value.cards;
    if (name === "train") this.trained = { norm: value.norm, batch: value.batch };
    if (name === "move") this.moveTo(value.start);
    this.view.figures.forEach((figure, number) => Object.assign(this.figures[number], this.live(figure))); // the figure may be drawn again
    this.selected();
    this.writeAddress(false);
  };

  moveTo(start: number[], before: GridData | undefined = this.drawn) {
    this.start = start;
    this.settleStart();
    const at = before && afterMove(before, start, this.selectedAt).at;
    if (at && !this.view.figures.some((figure) => this.isOfAnother(figure, at))) this.at = at;
  }

  /** The settings that the reader has changed in a figure. */
  get chosen() {
    const chosen: Record<string, string> = {};
    if (this.start) chosen.from = this.start.join();
    if (this.at !== undefined) chosen.at = this.at === null ? "none" : this.at.join();
    if (this.step !== undefined) chosen.step = String(this.step);
    if (this.cards) chosen.cards = this.cards;
    Object.assign(chosen, this.figures.map((figure) => (figure as Partial<TrainingData>).trained).find(Boolean));
    if (this.choice) Object.assign(chosen, { gamma: String(this.choice.gamma), beta: String(this.choice.beta) });
    return chosen;
  }

  appAddress() {
    return `${this.packed.app}/${pathOf(this.packed.page)}${queryOf(Object.entries({ ...this.view.query, ...this.chosen }))}`;
  }

  /** The fragment of the view: the settings that differ among the file's views. A layout that follows from the layer is left out. */
  get hash() {
    const { state, query } = this.view, pairs = Object.entries(state).filter(([name]) => name !== "layout" || name in query);
    if (this.presenting) pairs.push(["present", "true"]);
    return `#${queryOf([...pairs, ...Object.entries(this.chosen)]).slice(1)}`;
  }
}
