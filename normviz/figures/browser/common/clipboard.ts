// Buttons that copy a text.

import { _ } from "./messages.ts";

/** Until when a button says what happened. */
const timers = new WeakMap<HTMLElement, ReturnType<typeof setTimeout>>();

/** Copies the text of an element. The button says for two seconds what happened. */
export async function copyFrom(button: HTMLElement, source: HTMLElement) {
  const copied = await copyText(button, source), label = (button.dataset.label ??= button.textContent ?? "");
  button.textContent = copied ? _("Copied") : _("Press Ctrl+C");
  clearTimeout(timers.get(button));
  timers.set(button, setTimeout(() => (button.textContent = label), 2000));
  return copied;
}

/** Whether the frame may use the clipboard. Without permission, an attempt writes a message to the console. */
const mayUseClipboard = () => (document as any).featurePolicy?.allowsFeature("clipboard-write") ?? true;

/**
 * The clipboard needs https. Without it the text is selected, and the older command copies it if the browser allows it; otherwise the reader does.
 * Then the button has the focus again.
 */
async function copyText(button: HTMLElement, source: HTMLElement) {
  const field = source instanceof HTMLTextAreaElement ? source : null;
  try {
    if (!mayUseClipboard()) throw new Error("The frame may not use the clipboard.");
    await navigator.clipboard.writeText(field ? field.value : (source.textContent ?? ""));
    return true;
  } catch {
    if (field) {
      field.addEventListener("copy", () => setTimeout(() => button.focus()), { once: true });
      field.focus();
      field.select();
    } else window.getSelection()?.selectAllChildren(source);
    return document.execCommand("copy");
  }
}
