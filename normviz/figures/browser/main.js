// The module's door: called with its element and data, again at every change, and once more to clean up.

const views = new WeakMap();
const KINDS = { view: View, compare: CompareView, steps: StepsView, values: ValuesView, chart: ChartView, tabs: TabsView };

function script(address, integrity) {
  return new Promise((done, failed) => {
    const tag = document.createElement("script");
    if (integrity) Object.assign(tag, { integrity, crossOrigin: "anonymous" });
    tag.src = new URL(address, document.baseURI).href;
    tag.onload = done;
    tag.onerror = () => failed(new Error(`plotly.js did not load from ${tag.src}`));
    document.head.appendChild(tag);
  });
}

// Once a visit; the page may have begun it. A page whose address ends in a slash lies one step deeper.
function plotly(address, integrity) {
  if (window.Plotly) return Promise.resolve();
  window.normvizPlotly ??= Promise.resolve(window.normvizBegun)
    .then(() => window.Plotly || script(address, integrity))
    .catch((error) => (location.pathname.endsWith("/") ? script(`../${address}`) : Promise.reject(error)))
    .catch((error) => {
      window.normvizPlotly = undefined;
      throw error;
    });
  return window.normvizPlotly;
}

// The theme is read off the page's own background, so that it follows a switch.
function modeOf(parent, wanted) {
  if (wanted) return wanted;
  const host = parent.host ?? parent;
  const colour = getComputedStyle(host).getPropertyValue("--st-background-color").trim();
  if (/^#[0-9a-f]{6}$/i.test(colour)) return luminance(rgb(colour)) < 0.4 ? "dark" : "light";
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

// Draws the data at an element, or what changed of it. ``drawn`` settles when the figure is on the page, or cannot be drawn.
function show({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".nv-root") ?? parentElement;
  let view = views.get(root);
  if (!view) {
    view = new KINDS[data.kind ?? "view"](root, () => {});
    views.set(root, view);
  }
  view.send = (name, value) => data.alone || setTriggerValue?.(name, value);
  view.latest = data;
  const drawn = (data.kind === "tabs" ? Promise.resolve() : plotly(data.plotly, data.integrity))
    .then(() => view.latest === data && !view.gone && view.set(data, modeOf(parentElement, data.theme)));
  drawn.catch((error) => {
    if (view.gone) return; // taken off while it was being drawn
    view.line.textContent = `The figures could not be drawn: ${error.message}. Reload the page to try again.`;
    console.error(error);
  });
  const remove = () => {
    view.gone = true;
    view.destroy();
    views.delete(root);
  };
  return { view, drawn, remove };
}

export default function mount(component) {
  return show(component).remove;
}
