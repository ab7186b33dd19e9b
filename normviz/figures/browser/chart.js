// A plain Plotly figure - lines and bars - in the page's colours.

class ChartView {
  constructor(root) {
    this.root = html("div", "nv-view nv-chart", root);
    this.line = html("div", "nv-hidden", this.root);
    this.plot = html("div", "nv-chart-plot", this.root);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.root);
    pictured(this);
  }

  async set(data, mode) {
    const shown = JSON.stringify([data.figure, mode]), same = shown === this.shown;
    this.shown = null; // until it is drawn
    this.data = data;
    this.colours = THEMES[mode];
    this.mode = mode;
    for (const [name, colour] of Object.entries(this.colours))
      if (typeof colour === "string") this.root.style.setProperty(`--nv-${name}`, colour);
    savingMenu(this);
    this.root.dataset.state ??= "loading";
    if (!same || this.root.clientWidth !== this.width) await this.draw();
    this.shown = shown;
    this.root.dataset.state = "ready";
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }

  async draw() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const { data, layout } = this.data.figure, { text, muted, border } = this.colours;
    const axis = (given) => ({ gridcolor: border, zerolinecolor: border, linecolor: border, color: muted, automargin: true, ticklabeloverflow: "allow", ...given });
    const themed = {
      margin: { l: 56, r: 16, t: 16, b: 44 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "x unified",
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, ...layout,
      font: { color: text, size: 13, family: getComputedStyle(this.root).fontFamily },
      width: this.width, height: layout.height ?? 320,
    };
    themed.hoverlabel = { bgcolor: this.colours.card, bordercolor: border, font: { color: text } };
    for (const name of new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))])) themed[name] = axis(layout[name]);
    const traces = data.map((trace) => this.inTheme(trace));
    await window.Plotly.react(this.plot, traces, themed, { displayModeBar: false, responsive: false });
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", this.data.alt);
    this.root.dataset.width = String(this.width);
  }

  // The chart as Plotly's own shapes, in the font of a picture.
  async stillPlot() {
    const { data, layout } = this.plot, figure = { data, layout: { ...layout, font: { ...layout.font, family: STILL.font } } };
    const address = await window.Plotly.toImage(figure, { format: "svg", width: layout.width, height: layout.height });
    const [, tag, shapes] = decodeURIComponent(address.slice(address.indexOf(",") + 1)).match(/<svg([^>]*)>(.*)<\/svg>/s);
    return { shapes, names: tag.match(/ xmlns:xlink="[^"]*"/)?.[0] ?? "" };
  }

  inTheme(trace) {
    const color = this.colour(trace.meta?.colour);
    if (!color) return trace;
    return { ...trace, ...(trace.line && { line: { ...trace.line, color } }), ...(trace.marker && { marker: { ...trace.marker, color } }) };
  }

  // A colour by its meaning ("accent", "few.0", "muted") in this theme.
  colour(name) {
    if (!name) return null;
    const [key, at] = name.split("."), found = this.colours[key];
    return at === undefined ? found : found[Number(at)];
  }

  resized() {
    if (!this.data || this.root.clientWidth === this.width || this.root.dataset.state !== "ready") return;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  destroy() {
    this.observer.disconnect();
    this.root.remove();
    purgeLater(this.plot);
  }
}

// Plotly may still be drawing it, or about to answer a pointer that was over it.
function purgeLater(plot) {
  if (plot) setTimeout(() => window.Plotly?.purge(plot), 2000);
}
