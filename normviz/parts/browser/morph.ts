// Updates the elements of a page to new HTML. Elements that did not change stay as they are.

/** ``tag``: its start, with the attributes; ``whole``: with its content */
type Written = { tag: string; whole: string };

/** Each element as Python wrote it: scripts and readers change attributes and content later. */
const written = new WeakMap<Node, Written>();

/** The nodes of a text of HTML. */
export function parse(text: string) {
  const template = document.createElement("template");
  template.innerHTML = text;
  for (const element of template.content.querySelectorAll("*")) {
    const empty = element.cloneNode(false) as Element;
    written.set(element, { tag: empty.outerHTML, whole: element.outerHTML });
  }
  return template.content;
}

/**
 * Makes the children of ``from`` the children of ``to``. An element that Python has written as before stays with all that scripts have
 * written into it since. One with the same tag at the same place stays, too, and its children are compared in turn.
 * @param isDrawn whether a script has made the whole content of an element, which is not compared then
 */
export function morph(from: Node, to: Node, isDrawn: (element: Element) => boolean) {
  const old = [...from.childNodes], wanted = [...to.childNodes];
  wanted.forEach((node, place) => {
    const before = old[place];
    if (!before) from.appendChild(node);
    else if (before instanceof Element) change(before, node, isDrawn);
    else if (!before.isEqualNode(node)) from.replaceChild(node, before);
  });
  for (const node of old.slice(wanted.length)) node.remove();
}

function change(before: Element, node: Node, isDrawn: (element: Element) => boolean) {
  const is = written.get(node);
  if (is && !written.has(before) && before.isEqualNode(node)) written.set(before, is); // the first HTML and files have it
  const was = written.get(before);
  if (!was || !is || was.tag !== is.tag) return before.replaceWith(node);
  if (was.whole === is.whole) return;
  written.set(before, is);
  if (!isDrawn(before)) morph(before, node, isDrawn);
}
