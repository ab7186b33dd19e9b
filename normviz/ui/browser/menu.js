// On a narrow screen the menu of pages is Streamlit's drawer. Streamlit calls its button "Expand sidebar", and leaves it open after a choice.

import { _ } from "../../figures/browser/common/messages.js";

const HEADER = '[data-testid="stHeader"]', OPEN = '[data-testid="stExpandSidebarButton"]', PAGE = '[data-testid="stSidebarNavLink"]';
const DRAWER = '[data-testid="stSidebar"][data-collapsed="false"]', CLOSE = '[data-testid="stSidebarCollapseButton"] button';

/** @param {Document} page */
export function improveMenu(page) {
  if (!watchHeader(page)) {
    const waiting = new MutationObserver(() => watchHeader(page) && waiting.disconnect());
    waiting.observe(page.body, { childList: true, subtree: true });
  }
  page.addEventListener("click", ({ target }) => {
    const drawer = page.querySelector(DRAWER), at = /** @type {Element} */ (target);
    if (drawer && (at.closest(PAGE) || !(drawer.contains(at) || at.closest(OPEN)))) closeMenu(drawer);
  });
  page.addEventListener("keydown", ({ key }) => {
    const drawer = key === "Escape" && page.querySelector(DRAWER);
    if (drawer) closeMenu(drawer);
  });
}

/**
 * The first HTML loads this script before Streamlit has made the header.
 * @param {Document} page
 */
function watchHeader(page) {
  const header = page.querySelector(HEADER);
  if (header) new MutationObserver(() => nameMenu(header)).observe(header, { childList: true, subtree: true });
  if (header) nameMenu(header);
  return Boolean(header);
}

/** @param {Element} drawer */
const closeMenu = (drawer) => /** @type {HTMLElement | null} */ (drawer.querySelector(CLOSE))?.click();

/**
 * The style shows the name in place of the icon.
 * @param {Element} header
 */
function nameMenu(header) {
  const menu = /** @type {HTMLElement | null} */ (header.querySelector(OPEN));
  if (!menu || menu.dataset.name) return;
  menu.dataset.name = _("Menu");
  menu.setAttribute("aria-label", _("Menu"));
}
