// Several layers on one tensor: a column a layer; the element pointed at shows its peers under every layer at once.

class CompareView extends View {
  arrange() {
    const rows = ["stats", "params", "cube"];
    this.rows ??= Object.fromEntries(rows.map((row) => [row, html("div", `nv-row nv-layers nv-${row}`, this.sharing)]));
    this.sharing.className = "nv-compare";
    this.facts.hidden = this.steps.hidden = this.work.hidden = this.table.hidden = true;
    for (const panel of this.panels.values()) panel.root.remove();
    this.panels.clear();
    for (const figure of this.data.panels) {
      const panel = new (figure.scale === "cube" ? Cube : Panel)(this.rows[figure.row], this, figure.key);
      this.panels.set(figure.key, panel);
      panel.set(figure, this.data);
    }
    const across = this.data.layers.length > 4 ? 3 : this.data.layers.length;
    this.root.style.setProperty("--nv-across", across);
    this.root.insertBefore(this.line, null);
    this.sharing.insertBefore(this.line, this.rows.cube);
  }

  heightOf(panel) {
    return this.beside ? 170 : this.width < 720 ? 300 : panel.figure.row === "cube" ? 250 : this.data.layers.length > 2 ? 200 : 240;
  }

  fillWorked() {}

  readout(index) {
    if (!index) return [["Point at an element to see its peers under every layer."]];
    const others = (size, word) => (size > 1 ? [{ strong: (size - 1).toLocaleString("en") }, ` ${size === 2 ? "shares" : "share"} its ${word}`] : [`none shares its ${word}`]);
    return [
      [{ code: bracketed("x", whole(this.data, index)) }],
      ...this.data.layers.map((layer, number) => {
        const stats = this.data.sharings[`stats${number}`], params = this.data.sharings[`params${number}`];
        return [`${layer.name}: `, ...others(stats.size, stats.center ? "mean" : "mean square"), ", ", ...(params ? others(params.met, "gamma") : ["no gamma"])];
      }),
    ];
  }
}
