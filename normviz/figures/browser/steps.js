// The forward pass, one step at a time: what was before, what the step makes, and its arithmetic for one element.

const BEAT = 1400; // milliseconds a step, when played

class StepsView extends View {
  arrange() {
    this.take();
    this.facts.hidden = this.table.hidden = this.steps.hidden = true;
    if (!this.bar) this.build();
    this.bar.replaceChildren();
    this.data.panels.forEach((figure, number) => {
      const chip = html("button", "nv-chip", this.bar, figure.title);
      chip.type = "button";
      chip.addEventListener("click", () => this.go(number));
    });
    for (const key of ["before", "after"])
      if (!this.panels.has(key)) this.panels.set(key, new Panel(this.sharing, this, key));
    this.place();
  }

  // The server's step where it is news (Back, another address); an answer to an older step of ours is none.
  take() {
    const { step, panels } = this.data;
    this.told = (this.told ?? []).filter(({ at }) => Date.now() - at < 3000);
    const answer = this.told.findIndex((told) => told.step === step);
    this.step = step !== this.heard && answer < 0 ? step : Math.min(this.step, panels.length - 1);
    this.told.splice(0, answer + 1);
    this.heard = step;
  }

  tell() {
    this.told.push({ step: this.step, at: Date.now() });
    this.send("step", { step: this.step });
  }

  build() {
    this.bar = html("div", "nv-chips");
    this.formula = html("div", "nv-formula");
    const buttons = html("div", "nv-buttons");
    const button = (text, name, act) => {
      const made = html("button", "nv-button", buttons, text);
      made.type = "button";
      made.setAttribute("aria-label", name);
      made.title = name;
      made.addEventListener("click", act);
      return made;
    };
    button("◀", "One step back", () => this.go(this.step - 1));
    this.playButton = button("▶ Play", "Play the steps", () => (this.timer ? this.stop() : this.play()));
    button("▶", "One step on", () => this.go(this.step + 1));
    const head = html("div", "nv-stepper");
    head.append(buttons, this.bar);
    this.root.prepend(head, this.formula);
    this.loops = html("section", "nv-loops", this.root);
  }

  // The panels, formula and arithmetic of the step that shows.
  place() {
    const { panels } = this.data, now = panels[this.step], before = panels[Math.max(0, this.step - 1)];
    this.panels.get("before").set(before, this.data);
    this.panels.get("after").set(now, this.data);
    this.panels.get("before").root.classList.toggle("nv-alone", this.step === 0);
    this.panels.get("after").root.hidden = this.step === 0;
    [...this.bar.children].forEach((chip, number) => {
      chip.classList.toggle("nv-now", number === this.step);
      chip.setAttribute("aria-current", number === this.step ? "step" : "false");
    });
    this.formula.replaceChildren();
    for (const { text, steps } of this.data.formula) html("span", steps.includes(now.key) ? "nv-lit" : "", this.formula, text);
    html("span", "nv-why", this.formula, now.why);
  }

  async go(step, send = true) {
    const next = Math.min(Math.max(0, step), this.data.panels.length - 1);
    if (next === this.step) return;
    this.step = next;
    this.place();
    if (send && !this.timer) this.tell();
    await this.draw();
  }

  play() {
    if (this.step === this.data.panels.length - 1) this.go(0, false);
    this.playButton.textContent = "❚❚ Stop";
    this.timer = setInterval(() => {
      if (this.step === this.data.panels.length - 1) this.stop();
      else this.go(this.step + 1, false);
    }, BEAT);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.playButton.textContent = "▶ Play";
    this.tell();
  }

  heightOf() {
    return this.beside ? 210 : this.width < 720 ? 300 : 290;
  }

  // Every step's values, drawn or not.
  valueAt(key, index) {
    const figure = this.data.panels.find((one) => one.key === key), panel = this.panels.get("before");
    figure.values ??= decode(figure.z);
    return panel.valueIn(figure.values, index);
  }

  fillWorked() {
    this.work.replaceChildren();
    this.loops.replaceChildren();
    if (!this.at) {
      html("p", "", this.work, "Select an element to see its arithmetic.");
      return;
    }
    const now = this.data.panels[this.step].key, [how, result] = stepWorked(this, now, this.at);
    html("h3", "", this.work, `${this.data.panels[this.step].title} for ${bracketed("x", whole(this.data, this.at))}`);
    const list = html("div", "nv-lines nv-one", this.work);
    html("span", "nv-how", list, how);
    html("span", "nv-result", list, `= ${result}`);
    this.fillLoops();
  }

  fillLoops() {
    const { stats, loops } = this.data, place = placeOf(stats.axes, this.data, this.at);
    html("h3", "", this.loops, "As loops");
    html("pre", "", this.loops, loops.code);
    const now = stats.axes.map((axis, i) => `${axis.name} = ${place[i]}`).join(", ") || "no loop variable: one group";
    const runs = loops.runs.map((axis) => `${axis.name} runs 0 to ${axis.size - 1}`).join(", ") || "one element";
    html("p", "nv-iteration", this.loops, `This iteration: ${now}; ${runs}.`);
  }

  destroy() {
    clearInterval(this.timer);
    super.destroy();
  }
}

// One step's arithmetic for one element: how, and the result.
function stepWorked(view, key, index) {
  const { data } = view, { stats, values } = data, size = stats.size.toLocaleString("en");
  const value = (step) => view.valueAt(step, index), mean = sharedAt(values.mean, index), variance = sharedAt(values.var, index);
  const group = stats.running ? null : members(view, index);
  const terms = (text) => abbreviated(group.values.map(text), group.complete);
  const place = placeOf(stats.axes, data, index);
  const lines = {
    x: () => [bracketed("x", whole(data, index)), value("x")],
    mean: () => [stats.running ? bracketed("running_mean", place) : `(${terms(inBrackets)}) / ${size}`, mean],
    centered: () => [`${number(value("x"))} − ${inBrackets(mean)}`, value("centered")],
    squared: () => [`${inBrackets(stats.center ? value("centered") : value("x"))}²`, value("squared")],
    var: () => [stats.running ? bracketed("running_var", place) : `(${terms((x) => (stats.center ? `(${number(x)} − ${inBrackets(mean)})²` : `${inBrackets(x)}²`))}) / ${size}`, variance],
    normalized: () => [`${number(stats.center ? value("centered") : value("x"))} / √(${number(variance)} ${values.eps < 0 ? "\u2212" : "+"} ${number(Math.abs(values.eps), 3)})`, value("normalized")],
    output: () => {
      const shift = data.params.bias ? ` + ${inBrackets(sharedAt(values.beta, index))}` : "";
      return [`${number(value("normalized"))} · ${inBrackets(sharedAt(values.gamma, index))}${shift}`, value("output")];
    },
  };
  const [how, result] = lines[key]();
  return [how, number(result)];
}
