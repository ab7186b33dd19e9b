// Updates the elements of a page to new HTML. Elements that did not change stay as they are.

/** @typedef {{ tag: string, whole: string }} Written ``tag``: its start, with the attributes; ``whole``: with its content */

/** @type {WeakMap<Node, Written>} Each element as Python wrote it: scripts and readers change attributes and content later. */
const written = new WeakMap();

/**
 * The nodes of a text of HTML.
 * @param {string} text
 */
export function parse(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  for (const element of template.content.querySelectorAll("*")) {
    const empty = /** @type {Element} */ (element.cloneNode(false));
    written.set(element, { tag: empty.outerHTML, whole: element.outerHTML });
  }
  return template.content;
}

/**
 * Makes the children of ``from`` the children of ``to``. An element that Python has written as before stays with all that scripts have
 * written into it since. One with the same tag at the same place stays, too, and its children are compared in turn.
 * @param {Node} from
 * @param {Node} to
 * @param {(element: Element) => boolean} isDrawn whether a script has made the whole content of an element, which is not compared then
 */
export function morph(from, to, isDrawn) {
  const old = [...from.childNodes], wanted = [...to.childNodes];
  wanted.forEach((node, place) => {
    const before = old[place];
    if (!before) from.appendChild(node);
    else if (before instanceof Element) change(before, node, isDrawn);
    else if (!before.isEqualNode(node)) from.replaceChild(node, before);
  });
  for (const node of old.slice(wanted.length)) node.remove();
}

/**
 * @param {Element} before
 * @param {Node} node that should take its place
 * @param {(element: Element) => boolean} isDrawn
 */
function change(before, node, isDrawn) {
  const is = written.get(node);
  if (is && !written.has(before) && before.isEqualNode(node)) written.set(before, is); // the first HTML and files have it
  const was = written.get(before);
  if (!was || !is || was.tag !== is.tag) return before.replaceWith(node);
  if (was.whole === is.whole) return;
  written.set(before, is);
  if (!isDrawn(before)) morph(before, node, isDrawn);
}
