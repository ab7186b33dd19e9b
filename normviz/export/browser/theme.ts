// The theme, light or dark. The export sets it, or it follows the background of the page.

import { findAll } from "../../figures/browser/common/dom.ts";

const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const PRINT = window.matchMedia("print");
const PIXEL = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }) as OffscreenCanvasRenderingContext2D;

/** The parent, beyond a shadow root too. */
function parentOf(element: Element | null): Element | null {
  const root = element?.getRootNode();
  return element?.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}

/** Any CSS color as red, green, blue and alpha, each from 0 to 255. */
function channels(color: string) {
  PIXEL.clearRect(0, 0, 1, 1);
  PIXEL.fillStyle = color;
  PIXEL.fillRect(0, 0, 1, 1);
  return PIXEL.getImageData(0, 0, 1, 1).data;
}

/** Whether the nearest background that is not transparent is dark; without one, what the page's color scheme says. */
function isDarkBehind(element: Element) {
  for (let at = element as Element | null; at; at = parentOf(at)) {
    const [red, green, blue, alpha] = channels(getComputedStyle(at).backgroundColor);
    if (alpha > 127) return 0.299 * red + 0.587 * green + 0.114 * blue < 127;
  }
  const scheme = getComputedStyle(element.ownerDocument.documentElement).colorScheme;
  return scheme.includes("dark") && (DARK.matches || !scheme.includes("light"));
}

// The frame around this page, if this page may read its document: marimo's frame, or a page on the same host.
function frameAround() {
  try {
    return window.frameElement;
  } catch {
    return null;
  }
}

/**
 * The theme that the export asks for. "follow": the theme of the background behind the page.
 * @param whole whether the page is a document of its own
 */
export function wantedMode(root: Element, theme: Mode | "follow", whole: boolean): Mode {
  if (PRINT.matches) return "light";
  if (theme !== "follow") return theme;
  const around = parentOf(whole ? frameAround() : root);
  return (around ? isDarkBehind(around) : DARK.matches) ? "dark" : "light";
}

// A notebook, a book or the reader may change the theme: every output that is still on the page looks again.
export function watchTheme() {
  if (window.normvizWatch) return;
  window.normvizWatch = true;
  let asked = false;
  const look = () => {
    asked = false;
    for (const root of findAll(document, ".nv-doc[data-mounted]")) root.dispatchEvent(new Event("nv-theme"));
  };
  const later = () => {
    if (!asked) requestAnimationFrame(look);
    asked = true;
  };
  for (const query of [DARK, PRINT]) query.addEventListener("change", look);
  document.addEventListener("transitionend", (event) => event.propertyName.startsWith("background") && later());
  const observer = new MutationObserver(later);
  for (const page of [document, frameAround()?.ownerDocument])
    for (const element of page ? [page.documentElement, page.body] : []) observer.observe(element, { attributes: true });
}
