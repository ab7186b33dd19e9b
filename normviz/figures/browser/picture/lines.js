// The lines into which the browser breaks a text.

/**
 * The lines of a text node, each with its rectangle.
 * @param {Text} node
 * @returns {{ text: string, rect: { left: number, top: number, right: number, height: number } | undefined }[]}
 */
export function linesOf(node) {
  const range = document.createRange(), text = node.data.replace(/\s/g, " ");
  /** @type {{ text: string, left: number, top: number, right: number, height: number }[]} */
  const lines = [];
  range.selectNodeContents(node);
  const boxes = range.getClientRects();
  if (boxes.length <= 1) return [{ text, rect: boxes[0] }];
  let at = 0;
  for (const letter of text) {
    range.setStart(node, at);
    range.setEnd(node, (at += letter.length));
    const rect = [...range.getClientRects()].at(-1), last = lines.at(-1);
    if (!rect || (last && Math.abs(rect.top - last.top) <= rect.height / 2)) {
      if (last) [last.text, last.right] = [last.text + letter, Math.max(last.right, rect?.right ?? 0)];
    } else lines.push({ text: letter, left: rect.left, top: rect.top, right: rect.right, height: rect.height });
  }
  return lines.map(({ text, ...rect }) => ({ text: text.trimEnd(), rect }));
}
