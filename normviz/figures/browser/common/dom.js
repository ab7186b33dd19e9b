// Makes elements of HTML and SVG.

export const SVG = "http://www.w3.org/2000/svg";

/**
 * A number that no other figure of the page has, although a notebook loads this module once per output.
 */
export function uniqueNumber() {
  return (window.normvizNumber = (window.normvizNumber ?? 0) + 1);
}

/**
 * The width of an element in pixels; 0 inside something closed or hidden.
 * @param {HTMLElement} element
 */
export function visibleWidth(element) {
  return element.checkVisibility?.() === false ? 0 : element.clientWidth;
}

/**
 * Resolves when the next frame has been painted; at once in a hidden tab, which paints none.
 * @returns {Promise<void>}
 */
export function nextFrame() {
  return new Promise((done) => (document.hidden ? done() : requestAnimationFrame(() => setTimeout(done))));
}

/**
 * Calls ``changed`` when the width of an element may have changed, also because the answer that contains it is opened.
 * @param {HTMLElement} element
 * @param {() => void} changed
 */
export function watchWidth(element, changed) {
  const observer = new ResizeObserver(changed);
  observer.observe(element);
  element.closest("details")?.addEventListener("toggle", changed);
  return observer;
}

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {Element | null} [parent]
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes = {}, parent = null) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  parent?.appendChild(element);
  return element;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {Element | null} [parent]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function html(tag, className, parent, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  parent?.appendChild(element);
  return element;
}

/**
 * @param {string} className
 * @param {Element | null} parent
 * @param {string} text
 * @param {() => void} onClick
 */
export function button(className, parent, text, onClick) {
  const element = html("button", className, parent, text);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

/**
 * The element, which is known to exist.
 * @param {ParentNode} parent
 * @param {string} selector
 * @returns {HTMLElement}
 */
export function find(parent, selector) {
  return /** @type {HTMLElement} */ (parent.querySelector(selector));
}

/**
 * @param {ParentNode} parent
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
export function findAll(parent, selector) {
  return /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(selector)]);
}

/**
 * Downloads a blob as a file.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // some browsers read it late
}

// The children of an SVG element that are written again at every change.

/** @typedef {Record<string, string | number>} Attributes */

/** Changes only what differs from the last time, so that the browser lays out only that. Call ``add`` for each child, and then ``end``. */
export class SvgList {
  /** @type {{ element: SVGElement, tag: string, attributes: Attributes, text: string }[]} */
  shown = [];
  count = 0;

  /** @param {SVGElement} parent */
  constructor(parent) {
    this.parent = parent;
  }

  /**
   * @param {"text" | "path"} tag
   * @param {Attributes} attributes
   * @param {string} [text]
   */
  add(tag, attributes, text = "") {
    const known = this.shown[this.count], same = known && known.tag === tag && haveSameNames(known.attributes, attributes);
    const element = same ? known.element : svg(tag, attributes);
    if (same) setAttributes(element, attributes, known.attributes);
    else if (known) known.element.replaceWith(element);
    else this.parent.append(element);
    if (text !== (same ? known.text : "")) element.textContent = text;
    this.shown[this.count++] = { element, tag, attributes, text };
  }

  /** Removes the children that were not added again. */
  end() {
    for (const { element } of this.shown.splice(this.count)) element.remove();
    this.count = 0;
  }
}

/**
 * Sets the attributes that differ from what they were.
 * @param {SVGElement} element
 * @param {Attributes} attributes
 * @param {Attributes} before
 */
function setAttributes(element, attributes, before) {
  for (const [name, value] of Object.entries(attributes)) if (value !== before[name]) element.setAttribute(name, String(value));
}

/** @type {(one: Attributes, other: Attributes) => boolean} */
const haveSameNames = (one, other) => {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other);
};
