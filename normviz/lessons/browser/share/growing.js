// A frame that is as high as its content: the embedded page sends its height, and one line of script in the snippet applies it.

/** @typedef {{ normvizHeight: number }} HeightMessage in px */

/** For the page that has the frame. Only a frame that sends its height changes. "<" is escaped, because files contain this module in a script. */
export const SCRIPT =
  "\x3Cscript>addEventListener(\"message\", ({ source, data }) => document.querySelectorAll(\"iframe\").forEach((frame) => " +
  "{ if (frame.contentWindow === source && data?.normvizHeight > 0) frame.style.height = data.normvizHeight + \"px\"; }));\x3C/script>";

/**
 * Sends the height of the content to the page around this frame, now and at every change.
 * @param {Element} content
 */
export function sendHeight(content) {
  const observer = new ResizeObserver(() => {
    const normvizHeight = Math.ceil(content.getBoundingClientRect().height);
    if (normvizHeight > 0) parent.postMessage({ normvizHeight }, "*");
  });
  observer.observe(content);
  return observer;
}
