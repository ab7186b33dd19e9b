// Makes elements of HTML and SVG.

export const SVG = "http://www.w3.org/2000/svg";

/** A number that no other figure of the page has, although a notebook loads this module once per output. */
export function uniqueNumber() {
  return (window.normvizNumber = (window.normvizNumber ?? 0) + 1);
}

/** The width of an element in pixels; 0 inside something closed or hidden. */
export function visibleWidth(element: HTMLElement) {
  return element.checkVisibility?.() === false ? 0 : element.clientWidth;
}

const PROJECTED = [548, 308]; // px

/** How much a page is enlarged for a projector: it is drawn as on a window of 548 x 308, so that text of 12 px has 28 on 1280 x 720. */
export const projectedScale = () => Math.max(1, Math.min(innerWidth / PROJECTED[0], innerHeight / PROJECTED[1]));

/** How much the page of an element is enlarged; 1 if it is not for a projector. */
export const scaleOf = (element: Element) => Number(element.closest<HTMLElement>(".nv-page")?.dataset.scale ?? 1);

/** Resolves when the next frame has been painted; at once in a hidden tab, which paints none. */
export function nextFrame(): Promise<void> {
  return new Promise((done) => (document.hidden ? done() : requestAnimationFrame(() => setTimeout(done))));
}

/** Calls ``changed`` when the width of an element may have changed, also because the answer that contains it is opened. */
export function watchWidth(element: HTMLElement, changed: () => void) {
  const observer = new ResizeObserver(changed);
  observer.observe(element);
  element.closest("details")?.addEventListener("toggle", changed);
  return observer;
}

export function svg<Tag extends keyof SVGElementTagNameMap>(tag: Tag, attributes: Record<string, string | number> = {}, parent: Element | null = null): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  parent?.appendChild(element);
  return element;
}

/** ``properties``: such as ``{ role: "status", title }`` */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, className?: string, parent?: Element | null, text?: string, properties?: Partial<HTMLElementTagNameMap[Tag]>,
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  parent?.appendChild(element);
  return properties ? Object.assign(element, properties) : element;
}

export function button(className: string, parent: Element | null, text: string, onClick: () => void) {
  const element = html("button", className, parent, text, { type: "button" });
  element.addEventListener("click", onClick);
  return element;
}

/** The element, which is known to exist. */
export function find(parent: ParentNode, selector: string): HTMLElement {
  return parent.querySelector(selector) as HTMLElement;
}

export function findAll(parent: ParentNode, selector: string): HTMLElement[] {
  return [...parent.querySelectorAll(selector)] as HTMLElement[];
}

/** Downloads a blob as a file. */
export function download(blob: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers read it late
}

/** The children of an SVG element that are written again at every change. Call ``add`` for each child, and then ``end``: what is as before stays. */
export class SvgList {
  shown: { element: SVGElement; written: string }[] = [];
  count = 0;
  parent: SVGElement;

  constructor(parent: SVGElement) {
    this.parent = parent;
  }

  add(tag: "text" | "path", attributes: Record<string, string | number>, text = "") {
    const known = this.shown[this.count], written = JSON.stringify([tag, attributes, text]);
    if (known?.written !== written) {
      const element = svg(tag, attributes);
      element.textContent = text;
      if (known) known.element.replaceWith(element);
      else this.parent.append(element);
      this.shown[this.count] = { element, written };
    }
    this.count++;
  }

  /** Removes the children that were not added again. */
  end() {
    for (const { element } of this.shown.splice(this.count)) element.remove();
    this.count = 0;
  }
}
