// Changes inputs on the page to wanted ones in place: a reader may have the focus in one, or be about to release the pointer over one.

/**
 * Makes the element like ``wanted``. Children with a ``data-key`` are found by it, the others by their place.
 * @param typed a field that keeps what a reader is typing
 */
export function synchronize(element: Element, wanted: Element, typed?: HTMLInputElement) {
  const value = wanted instanceof HTMLSelectElement ? wanted.value : ""; // read before its options are moved
  copyAttributes(element, wanted);
  const nodes = [...wanted.childNodes], keys = new Set(nodes.map(keyOf)), known = new Map([...element.children].map((child) => [keyOf(child), child]));
  for (const [key, child] of known) if (key && !keys.has(key)) child.remove(); // then the next ones need not move, and keep the focus
  nodes.forEach((node, place) => {
    const there = element.childNodes[place] ?? null, before = keyOf(node) ? (known.get(keyOf(node)) ?? null) : there;
    if (!before || !isAlike(before, node)) {
      if (there && !keyOf(there)) there.replaceWith(node);
      else element.insertBefore(node, there);
      return;
    }
    if (before !== there) element.insertBefore(before, there);
    if (before instanceof Element && node instanceof Element) synchronize(before, node, typed);
    else if (before.nodeValue !== node.nodeValue) before.nodeValue = node.nodeValue;
  });
  while (element.childNodes.length > nodes.length) element.lastChild?.remove();
  if (element instanceof HTMLSelectElement) element.value = value;
  if (element instanceof HTMLInputElement && wanted instanceof HTMLInputElement) copyState(element, wanted, element === typed);
}

const keyOf = (node: Node) => (node instanceof HTMLElement ? (node.dataset.key ?? "") : "");

function isAlike(node: Node, wanted: Node) {
  if (!(node instanceof Element) || !(wanted instanceof Element)) return node.nodeType === wanted.nodeType;
  return node.tagName === wanted.tagName && node.className === wanted.className && node.getAttribute("type") === wanted.getAttribute("type");
}

function copyAttributes(element: Element, wanted: Element) {
  for (const { name } of [...element.attributes])
    if (!wanted.hasAttribute(name) && !["open", "role", "aria-label"].includes(name)) element.removeAttribute(name);
  for (const { name, value } of wanted.attributes) if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** The state that a browser keeps apart from the attributes. */
function copyState(field: HTMLInputElement, wanted: HTMLInputElement, isTyped: boolean) {
  field.checked = wanted.checked;
  if (!isTyped && field.value !== wanted.value) field.value = wanted.value;
}
