// An exported page: its theme, plotly.js, the figures, tabs and copy buttons. It stands in the module's own scope.

const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const PAPER = window.matchMedia("print");

function outside(element) {
  return element?.parentElement ?? element?.getRootNode().host;
}

// Any colour of CSS as red, green, blue and alpha, each to 255.
const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });

function channels(colour) {
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  return pixel.getImageData(0, 0, 1, 1).data;
}

// Is it dark behind the element, as a reader sees it? The nearest background that is not transparent says so, else the page's colour scheme.
function darkBehind(element) {
  for (let at = element; at; at = outside(at)) {
    const [red, green, blue, alpha] = channels(getComputedStyle(at).backgroundColor);
    if (alpha > 127) return 0.299 * red + 0.587 * green + 0.114 * blue < 127;
  }
  const scheme = getComputedStyle(element.ownerDocument.documentElement).colorScheme;
  return scheme.includes("dark") && (DARK.matches || !scheme.includes("light"));
}

// The frame that shows this page, where it may be looked at: that of marimo, or of another page on the same host.
function frameAround() {
  try {
    return window.frameElement;
  } catch {
    return null;
  }
}

function wantedMode(root, settings) {
  if (PAPER.matches) return "light";
  if (settings.theme !== "follow") return settings.theme;
  const around = outside(settings.whole ? frameAround() : root);
  return (around ? darkBehind(around) : DARK.matches) ? "dark" : "light";
}

// plotly.js as an output on the page carries it, packed; unpacked once for all.
function carriedPlotly(root) {
  const carried = root.querySelector(":scope > .nv-carried") ?? document.querySelector(".nv-carried");
  if (carried) window.normvizCarried ??= unpacked(carried.textContent.trim());
  return window.normvizCarried ?? null;
}

async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  return URL.createObjectURL(new Blob([plain], { type: "text/javascript" }));
}

// Loads plotly.js: the page's own, else a carried one, else from its address - and where that fails, from an output that comes later.
async function needPlotly(root, settings) {
  if (window.Plotly) return;
  const carried = await carriedPlotly(root);
  try {
    await plotly(carried ?? settings.plotly, carried ? "" : settings.integrity);
  } catch (error) {
    console.error(error);
    const note = html("p", "nv-note-box nv-missing", root.querySelector(".nv-figure"));
    note.textContent = settings.whole
      ? `The figures could not be drawn: ${error.message}.`
      : `The figures could not be drawn: ${error.message}. The first normviz output of a notebook carries it: run that cell again.`;
    await plotly(await carriedLater(root), "");
    note.remove();
  }
}

function carriedLater(root) {
  return new Promise((found) => {
    const watch = new MutationObserver(() => {
      const carried = carriedPlotly(root);
      if (!carried) return;
      watch.disconnect();
      found(carried);
    });
    watch.observe(document.documentElement, { childList: true, subtree: true });
  });
}

// A notebook, a book or the reader may change the theme: every output on the page looks again. Those that were taken off hold nothing here.
function watchTheme() {
  if (window.normvizWatch) return;
  window.normvizWatch = true;
  let asked = false;
  const look = () => {
    asked = false;
    for (const root of document.querySelectorAll(".nv-doc[data-mounted]")) root.dispatchEvent(new Event("nv-theme"));
  };
  const later = () => {
    if (!asked) requestAnimationFrame(look);
    asked = true;
  };
  for (const query of [DARK, PAPER]) query.addEventListener("change", look);
  document.addEventListener("transitionend", (event) => event.propertyName.startsWith("background") && later());
  const watch = new MutationObserver(later);
  for (const page of [document, frameAround()?.ownerDocument])
    for (const element of page ? [page.documentElement, page.body] : []) watch.observe(element, { attributes: true });
}

async function mountPage(root) {
  root.dataset.mounted = "yes";
  const settings = JSON.parse(root.querySelector(":scope > .nv-data").textContent);
  enliven(root);
  if (settings.whole) document.documentElement.classList.toggle("nv-framed", window.parent !== window);
  const places = [...root.querySelectorAll(".nv-figure")];
  const paint = () => {
    const mode = wantedMode(root, settings), changed = root.dataset.mode !== mode;
    root.dataset.mode = mode;
    if (settings.whole) document.documentElement.dataset.mode = mode;
    return changed && mode;
  };
  const draw = (mode) =>
    places.map((place) => show({ parentElement: place, data: { ...settings.figures[Number(place.dataset.figure)], theme: mode } }));
  paint();
  watchTheme();
  if (places.length) await needPlotly(root, settings);
  paint();
  const figures = draw(root.dataset.mode);
  const look = () => {
    const mode = root.isConnected && paint();
    if (mode) draw(mode);
  };
  root.addEventListener("nv-theme", look);
  new ResizeObserver(look).observe(root); // it may have been off the page while the theme changed
  return figures;
}

// For a program that drives a browser: every figure of the page, hidden ones too, as { svg, width, height }.
async function picturesOf(mounted) {
  const figures = (await Promise.all(mounted)).flat();
  for (const details of document.querySelectorAll(".nv-more")) details.open = true;
  for (const tab of document.querySelectorAll(".nv-tab[hidden]")) tab.hidden = false;
  await Promise.all(figures.map(({ drawn }) => drawn));
  const found = [];
  for (const { view } of figures) {
    if (view.root.clientWidth !== view.width) await view.draw();
    const { text, width, height } = await stillSvg(view);
    found.push({ svg: text, width, height });
  }
  return found;
}

const mounted = [...document.querySelectorAll(".nv-doc:not([data-mounted])")].map(mountPage);
window.normviz ??= { pictures: () => picturesOf(mounted) };
