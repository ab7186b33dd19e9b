// Changes the elements of a page to those of new HTML, and leaves alone what is the same.

/** @type {WeakMap<Node, string>} The tag of each element as Python wrote it: scripts and readers change attributes later. */
const tags = new WeakMap();
/** Elements whose content belongs to a script. */
const CLOSED = ".nv-figure, .nv-verdict, .nv-mark, .nv-refusal, .nv-progress, .nv-count, .nv-outcome, .nv-tensor, .nv-start, .nv-practice";

/** @param {Node} node */
const tagOf = (node) => tags.get(node) ?? "";

/**
 * The nodes of a text of HTML.
 * @param {string} text
 */
export function parse(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  for (const element of template.content.querySelectorAll("*"))
    tags.set(element, /** @type {Element} */ (element.cloneNode(false)).outerHTML);
  return template.content;
}

/**
 * Makes the children of ``from`` the children of ``to``. Elements with the same tag at the same place are kept, and compared in turn.
 * @param {Node} from
 * @param {Node} to
 */
export function morph(from, to) {
  const old = [...from.childNodes], wanted = [...to.childNodes];
  wanted.forEach((node, place) => {
    const before = old[place];
    if (!before) from.appendChild(node);
    else if (!isSame(before, node)) from.replaceChild(node, before);
    else if (before instanceof HTMLElement && before.matches("code")) takeCode(before, node);
    else if (before instanceof HTMLElement && !before.matches(CLOSED)) morph(before, node);
  });
  for (const node of old.slice(wanted.length)) node.remove();
}

/**
 * @param {Node} before
 * @param {Node} node
 */
function isSame(before, node) {
  if (before instanceof Element) return node instanceof Element && tagOf(before) === tagOf(node);
  return before.nodeType === node.nodeType && before.nodeValue === node.nodeValue;
}

/**
 * Code may have been colored.
 * @param {HTMLElement} before
 * @param {Node} node
 */
function takeCode(before, node) {
  if (before.textContent !== node.textContent) before.textContent = node.textContent;
}
