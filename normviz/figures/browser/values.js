// Several values of one tensor side by side: the element pointed at is the same in all.

class ValuesView extends View {
  arrange() {
    super.arrange();
    this.steps.hidden = false;
    this.sharing.hidden = this.facts.hidden = this.work.hidden = this.table.hidden = true;
    this.root.insertBefore(this.steps, this.line);
    this.root.style.setProperty("--nv-across", Math.min(this.data.panels.filter(({ key }) => !this.data.hidden?.includes(key)).length || 1, 4));
    this.steps.classList.add("nv-many");
  }

  fillFacts() {}

  fillWorked() {}

  heightOf() {
    return this.beside ? 200 : this.width < 720 ? 280 : this.data.panels.length > 2 ? 270 : 320;
  }

  readout(index) {
    if (!index) return [["Point at an element to read its values."]];
    return [[{ code: bracketed(this.data.name, whole(this.data, index)) }], ...this.data.panels.map((figure) => [`${figure.title} `, { strong: number(this.valueAt(figure.key, index)) }])];
  }
}
