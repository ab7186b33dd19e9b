// A plain Plotly chart with lines and bars, in the theme's colors.

import { html, scaleOf, visibleWidth, watchWidth } from "../common/dom.ts";
import { purgeLater } from "../common/plotly.ts";
import { applyColors } from "../common/theme.ts";
import { offerPictures, updateSaveMenu } from "../picture/picture.ts";
import { PICTURE_FONT } from "../picture/shapes.ts";
import { addChartTools } from "../speaking/tables.ts";

export class ChartView {
  data: ChartData;
  colors: Theme;
  mode: Mode = "light";
  drawn: string | null = null; // the chart and the theme that are drawn
  width = 0;
  height?: number;
  needsPlotly = true;
  observer: ResizeObserver;
  frame?: number;
  root = html("div", "nv-view nv-chart");
  line = html("div", "nv-hidden", this.root);
  plot = html("div", "nv-chart-plot", this.root);

  constructor(parent: HTMLElement) {
    parent.append(this.root);
    addChartTools(this);
    this.observer = watchWidth(this.root, () => this.resized());
    offerPictures(this);
  }

  async set(data: ChartData, mode: Mode) {
    const wanted = JSON.stringify([data.figure, mode, this.height]), same = wanted === this.drawn;
    this.drawn = null; // set again when the chart is drawn
    this.data = data;
    this.mode = mode;
    this.colors = applyColors(this.root, mode);
    updateSaveMenu(this);
    this.root.dataset.state ??= "loading";
    if (!same || visibleWidth(this.root) !== this.width) await this.draw();
    this.drawn = wanted;
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }

  async draw() {
    this.width = visibleWidth(this.root);
    if (!this.width) {
      this.root.dataset.state = "hidden";
      return;
    }
    const { data, layout } = this.data.figure, { text, muted, border } = this.colors, scale = scaleOf(this.root);
    const enlarged = (font: any, size: number) => (scale > 1 ? { font: { ...font, size: scale * size } } : {});
    const axis = ({ title, ...options }: any = {}) => ({
      gridcolor: border, zerolinecolor: border, linecolor: border, color: muted, automargin: true, ticklabeloverflow: "allow", ...options,
      ...(title && { title: { ...title, ...enlarged(title.font, 13) } }),
    });
    const themed: Record<string, any> = {
      margin: { l: 56, r: 16, t: 16, b: 44 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "x unified",
      hoverdistance: layout.hovermode ? 20 : -1, // px; by default, the values at the nearest x are shown anywhere
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, ...layout,
      font: { color: text, size: 13 * scale, family: getComputedStyle(this.root).fontFamily },
      width: this.width, height: this.height ?? layout.height ?? 320,
    };
    themed.legend = { ...themed.legend, ...enlarged(themed.legend.font, 12) };
    themed.hoverlabel = { bgcolor: this.colors.card, bordercolor: border, font: { color: text } };
    for (const name of new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))])) themed[name] = axis(layout[name]);
    const traces = data.map((trace) => this.inTheme(trace));
    const { react, newPlot } = window.Plotly;
    const plot = this.root.dataset.width === String(this.width) ? react : newPlot; // react keeps margins and ranges of the other width
    await plot(this.plot, traces, themed, { displayModeBar: false, responsive: false });
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", this.data.figure.alt);
    this.root.dataset.width = String(this.width);
    this.root.dataset.state = "ready";
  }

  // The chart as Plotly's own SVG, in the font of pictures.
  async plotAsSvg() {
    const { data, layout } = this.plot as any, figure = { data, layout: { ...layout, font: { ...layout.font, family: PICTURE_FONT } } };
    const address = await window.Plotly.toImage(figure, { format: "svg", width: layout.width, height: layout.height });
    const [, tag, shapes] = decodeURIComponent(address.slice(address.indexOf(",") + 1)).match(/<svg([^>]*)>(.*)<\/svg>/s) ?? ["", "", ""];
    return { shapes, namespaces: tag.match(/ xmlns:xlink="[^"]*"/)?.[0] ?? "" };
  }

  inTheme(trace: Trace) {
    const color = this.color(trace.meta?.color);
    if (!color) return trace;
    return { ...trace, ...(trace.line && { line: { ...trace.line, color } }), ...(trace.marker && { marker: { ...trace.marker, color } }) };
  }

  /** The theme's color by its meaning: "accent", "few.0", "muted". */
  color(name?: string | null) {
    if (!name) return null;
    const [key, at] = name.split("."), found = this.colors[key as keyof Theme];
    return at === undefined ? found : found[Number(at)];
  }

  resized() {
    if (!this.data || visibleWidth(this.root) === this.width || this.root.dataset.state === "loading") return;
    cancelAnimationFrame(this.frame ?? 0);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  announce(message: string) {
    this.line.textContent = message;
  }

  showError(message: string) {
    this.line.textContent = message;
  }

  destroy() {
    this.observer.disconnect();
    this.root.remove();
    purgeLater(this.plot);
  }
}
