// Streamlit makes every option of a row of buttons a stop of the Tab key, and enters the row at its first option. Tab should enter it at
// the chosen option, as in every group of radio buttons.

const GROUP = '[role="radiogroup"]', CHOSEN = '[role="radio"][aria-checked="true"]';

/** @param {Document} page */
export function enterGroupsAtTheChosenOption(page) {
  let tabbed = false;
  page.addEventListener("keydown", (event) => void (tabbed = event.key === "Tab"), true);
  page.addEventListener("pointerdown", () => void (tabbed = false), true);
  page.addEventListener("focusin", ({ target, relatedTarget }) => {
    const group = /** @type {Element} */ (target).closest?.(GROUP);
    if (!tabbed || !group || group.contains(/** @type {Node | null} */ (relatedTarget))) return;
    const chosen = /** @type {HTMLElement | null} */ (group.querySelector(CHOSEN));
    if (chosen && chosen !== target) chosen.focus();
  });
}
