// The children of an SVG element that are written again at every change.

import { svg } from "./dom.js";

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
