// Buttons that copy a text.

import { _ } from "./messages.js";

/**
 * Copies the text of an element at a click. The button says for two seconds what happened.
 * @param {HTMLElement} button
 * @param {HTMLElement} source
 * @param {(copied: boolean) => void} [onClick]
 */
export function wireCopyButton(button, source, onClick) {
  let timer = 0;
  button.addEventListener("click", async () => {
    const copied = await copyText(source);
    button.textContent = copied ? _("Copied") : _("Press Ctrl+C");
    onClick?.(copied);
    clearTimeout(timer);
    timer = setTimeout(() => (button.textContent = _("Copy")), 2000);
  });
}

/**
 * The clipboard needs https; without it the text is selected, and the older command copies it where the browser allows that.
 * @param {HTMLElement} source
 */
async function copyText(source) {
  const field = source instanceof HTMLTextAreaElement ? source : null;
  try {
    await navigator.clipboard.writeText(field ? field.value : (source.textContent ?? ""));
    return true;
  } catch {
    field?.focus();
    if (field) field.select();
    else window.getSelection()?.selectAllChildren(source);
    return document.execCommand("copy");
  }
}
