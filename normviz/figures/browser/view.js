// One view: panels, the read-out, the arithmetic - and the one element that they all speak of.

class View {
  constructor(root, send) {
    this.send = send;
    this.number = pageNumber();
    this.readoutId = `nv-readout-${this.number}`;
    this.root = html("div", "nv-view", root);
    this.sharing = html("div", "nv-row nv-sharing", this.root);
    this.line = html("div", "nv-readout", this.root);
    this.line.id = this.readoutId;
    this.voice = html("div", "nv-hidden", this.root);
    this.voice.setAttribute("role", "status");
    this.facts = html("dl", "nv-facts", this.root);
    this.steps = html("div", "nv-row nv-steps", this.root);
    this.work = html("section", "nv-worked", this.root);
    this.table = html("details", "nv-table", this.root);
    this.table.hidden = true;
    this.tableTitle = html("summary", "", this.table);
    this.tableBody = html("div", "", this.table);
    this.table.addEventListener("toggle", () => this.fillTable());
    this.panels = new Map();
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.root);
    this.pointed = null;
    this.cursor = null;
    this.at = null;
    pictured(this);
  }

  // The element that veils and read-out follow: pointed at, else under the keyboard cursor, else selected.
  get active() {
    return this.pointed ?? this.cursor ?? this.at;
  }

  async set(data, mode) {
    const wasHere = this.data;
    this.data = prepared(data);
    this.mode = mode;
    const sent = data.at ? data.at.map((at, axis) => at - data.grid.start[axis]) : null;
    // An answer to something older does not undo a click - unless the tensor is another, or no other answer comes.
    if (!wasHere) this.turn = data.turn ?? 0;
    const answered = data.turn === undefined || data.turn >= this.turn;
    const left = this.waiting && !answered ? this.waiting + 3000 - Date.now() : 0;
    const moved = !wasHere || JSON.stringify(wasHere.grid) !== JSON.stringify(data.grid);
    clearTimeout(this.later);
    if (left <= 0 || moved || same(sent, this.at)) {
      this.at = this.inWindow(sent) ? sent : null;
      this.waiting = 0;
    } else this.later = setTimeout(() => this.set(data, mode), left);
    if (this.at && !this.inWindow(this.at)) this.at = null;
    if (this.pointed && !this.inWindow(this.pointed)) this.pointed = null;
    if (this.cursor && !this.inWindow(this.cursor)) this.cursor = null;
    this.colours = THEMES[mode];
    for (const [name, colour] of Object.entries(this.colours))
      if (typeof colour === "string") this.root.style.setProperty(`--nv-${name}`, colour);
    this.arrange();
    savingMenu(this);
    this.hide(data.hidden ?? []);
    if (!wasHere) this.root.dataset.state = "loading";
    await this.draw();
    this.root.dataset.state = "ready";
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }

  inWindow(index) {
    return !!index && index.length === this.data.grid.extent.length && index.every((at, axis) => at >= 0 && at < this.data.grid.extent[axis]);
  }

  // Make the panels that the data asks for, and only those.
  arrange() {
    const wanted = new Set(this.data.panels.map((figure) => figure.key));
    for (const [key, panel] of this.panels)
      if (!wanted.has(key)) {
        panel.root.remove();
        this.panels.delete(key);
      }
    for (const figure of this.data.panels) {
      if (!this.panels.has(figure.key)) this.panels.set(figure.key, new Panel(figure.scale === "values" ? this.steps : this.sharing, this, figure.key));
      const panel = this.panels.get(figure.key);
      panel.set(figure, this.data);
      panel.hint.textContent = figure.scale === "values" || !figure.links ? "" : "Point at any element";
    }
    this.steps.hidden = !this.data.values;
    this.editButton();
    this.fillFacts();
  }

  // What the link leaves out; a row is as wide as the panels that it keeps.
  hide(names) {
    this.root.dataset.hidden = names.join(" ");
    if (this.data.formula) return; // the steps show two panels, always
    for (const panel of this.panels.values()) panel.root.hidden = names.includes(panel.figure.row ?? panel.key);
    for (const row of [this.sharing, this.steps]) {
      const shown = [...row.children].filter((panel) => !panel.hidden).length;
      row.style.setProperty("--nv-shown", Math.max(1, shown));
      row.classList.toggle("nv-empty", !shown);
    }
  }

  async draw() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const narrow = this.width < 720, wide = this.width >= 860;
    this.root.classList.toggle("nv-narrow", narrow);
    this.root.classList.toggle("nv-wide", wide);
    this.beside = narrow && window.innerWidth >= 900; // in a column beside text
    this.root.classList.toggle("nv-beside", this.beside);
    const panels = [...this.panels.values()], widths = panels.map((panel) => panel.body.clientWidth); // all read before any is written
    await Promise.all(panels.map((panel, i) => panel.draw(widths[i], this.heightOf(panel), this.colours)));
    this.refresh();
    this.root.dataset.width = String(this.width); // for which it is drawn
  }

  heightOf(panel) {
    const narrow = this.width < 720;
    return panel.figure.scale === "values" ? (narrow ? 300 : 270) : this.beside ? 228 : narrow ? 330 : 340;
  }

  readout(index) {
    return readout(this, index);
  }

  resized() {
    if (!this.data || this.root.clientWidth === this.width || this.root.dataset.state !== "ready") return;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  valueAt(key, index) {
    return this.panels.get(key).valueAt(index);
  }

  hover(index) {
    if (same(index, this.pointed)) return;
    this.root.classList.add("nv-used");
    this.pointed = index;
    this.follow();
  }

  leave() {
    if (!this.cursor) return;
    this.cursor = null;
    this.follow();
  }

  follow() {
    for (const panel of this.panels.values()) panel.show(this.active, this.at);
    this.say();
  }

  select(index) {
    const known = !this.waiting && same(index && whole(this.data, index), this.data.at);
    this.at = index;
    this.pointed = null;
    this.refresh();
    this.voice.textContent = spoken(this.readout(index));
    if (known) return;
    this.waiting = Date.now();
    this.send("select", { at: index && whole(this.data, index), turn: (this.turn += 1) });
  }

  refresh() {
    this.follow();
    this.fillWorked();
    this.fillTable();
  }

  key(event, panel) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const from = this.cursor ?? this.at ?? this.data.grid.extent.map(() => 0);
    if (event.key in moves) {
      const [right, down] = moves[event.key];
      this.pointed = null;
      this.cursor = this.cursor || this.at ? panel.geometry.step(from, right, down) : from;
      this.follow();
      this.voice.textContent = spoken(this.readout(this.cursor));
    } else if ((event.key === "Enter" || event.key === " ") && (this.cursor ?? this.at)) {
      const chosen = this.cursor ?? this.at;
      this.cursor = null;
      this.select(chosen);
    } else if (event.key === "Escape") {
      this.cursor = null;
      this.select(null);
    } else if (this.data.editable && (event.key === "F2" || /^[-0-9.]$/.test(event.key)) && !event.ctrlKey && !event.metaKey) {
      this.edit(from, event.key === "F2" ? undefined : event.key);
    } else return;
    event.preventDefault();
  }

  say() {
    const parts = this.readout(this.active);
    this.line.replaceChildren();
    parts.forEach((part, i) => {
      if (i) html("span", "nv-dot", this.line, " · ");
      const phrase = html("span", "nv-phrase", this.line);
      for (const word of part) {
        if (typeof word === "string") phrase.append(word);
        else html(word.code !== undefined ? "code" : "strong", "", phrase, word.code ?? word.strong);
      }
    });
  }

  fillFacts() {
    this.facts.replaceChildren();
    for (const { label, value, note } of this.data.facts) {
      const fact = html("div", "nv-fact", this.facts);
      html("dt", "", fact, label);
      const shown = html("dd", "", fact, value);
      if (note) html("span", "nv-note", shown, note);
    }
  }

  fillWorked() {
    this.work.replaceChildren();
    this.work.hidden = !this.data.values;
    this.table.hidden = !this.data.values;
    if (!this.data.values) return;
    if (!this.at) {
      html("h3", "", this.work, "Worked out by hand");
      html("p", "", this.work, "Select an element (click it, or press Enter on it) to see its arithmetic.");
      return;
    }
    html("h3", "", this.work, `Worked out for ${bracketed("x", whole(this.data, this.at))}`);
    const list = html("div", "nv-lines", this.work);
    for (const [what, how, result] of worked(this, this.at)) {
      html("span", "nv-what", list, what);
      html("span", "nv-how", list, how);
      html("span", "nv-result", list, `= ${result}`);
    }
  }

  fillTable() {
    if (!this.data.values) return;
    const { stats } = this.data, square = !stats.center && !stats.running;
    const count = stats.count.toLocaleString("en");
    this.tableTitle.textContent = square ? `All ${count} mean squares as a table` : `All ${count} means and variances as a table`;
    this.tableBody.replaceChildren();
    if (!this.table.open) return;
    const rows = statisticsRows(this.data), table = html("table", "", this.tableBody), head = html("tr", "", html("thead", "", table));
    const words = [stats.axes.map((axis) => axis.name).join(", ") || "all", ...(square ? ["mean square"] : ["mean", "variance"]), "elements"];
    for (const word of words) html("th", "", head, word);
    const body = html("tbody", "", table);
    for (const row of rows) {
      const line = html("tr", "", body);
      const numbers = square ? [number(row.variance)] : [number(row.mean), number(row.variance)];
      for (const cell of [row.place.join(", "), ...numbers, stats.size.toLocaleString("en")]) html("td", "", line, cell);
    }
    if (rows.length < stats.count) html("p", "", this.tableBody, `The first ${rows.length} of those drawn.`);
  }

  destroy() {
    clearTimeout(this.later);
    this.observer.disconnect();
    this.root.remove();
    for (const panel of this.panels.values()) purgeLater(panel.plot);
  }
}

function same(a, b) {
  return a === b || (!!a && !!b && a.length === b.length && a.every((at, axis) => at === b[axis]));
}

function prepared(data) {
  if (!data.values) return data;
  const values = { eps: data.values.eps };
  for (const name of ["mean", "var", "gamma", "beta"])
    if (data.values[name]) values[name] = { shape: data.values[name].shape, values: decode(data.values[name]) };
  return { ...data, values };
}
