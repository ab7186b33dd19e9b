// Corrects what Streamlit's own elements do: the groups of pages in its header, its menu of pages, the Tab key in rows of buttons, and shortcuts of single letters.

import { _ } from "../../figures/browser/common/messages.ts";

const HEADER = '[data-testid="stHeader"]', OPEN = '[data-testid="stExpandSidebarButton"]', PAGE = '[data-testid="stSidebarNavLink"]';
const DRAWER = '[data-testid="stSidebar"][data-collapsed="false"]', CLOSE = '[data-testid="stSidebarCollapseButton"] button';
const ITEMS = '[data-testid="stSidebarNavItems"]';
const SECTION = '[data-testid="stTopNavSection"]', NAME = '[data-testid="stMarkdownContainer"]';
const GROUP = '[role="radiogroup"]', CHOSEN = '[role="radio"][aria-checked="true"]';

export function correctStreamlit() {
  improveMenu();
  enterGroupsAtTheChosenOption();
  endShortcuts();
}

// On a narrow screen the menu of pages is Streamlit's drawer. Streamlit calls its button "Expand sidebar", and leaves it open after a choice.
function improveMenu() {
  if (!watchHeader()) {
    const waiting = new MutationObserver(() => watchHeader() && waiting.disconnect());
    waiting.observe(document.body, { childList: true, subtree: true });
  }
  document.addEventListener("click", ({ target }) => {
    const drawer = document.querySelector(DRAWER), at = target as Element;
    if (drawer && (at.closest(PAGE) || !(drawer.contains(at) || at.closest(OPEN)))) closeMenu(drawer);
  });
  document.addEventListener("keydown", ({ key }) => {
    const drawer = key === "Escape" && document.querySelector(DRAWER);
    if (drawer) closeMenu(drawer);
  });
}

// The first HTML loads this script before Streamlit has made the header.
function watchHeader() {
  const header = document.querySelector(HEADER);
  if (header) new MutationObserver(() => changeHeader(header)).observe(header, { childList: true, subtree: true });
  if (header) changeHeader(header);
  if (header) watchMenu();
  return Boolean(header);
}

function changeHeader(header: Element) {
  nameMenu(header);
  markSection(header);
}

// In the drawer, Streamlit puts titles and boxes into a list, where only items are allowed: it is no list for a screen reader.
// Streamlit makes the drawer when the window becomes narrow, and its content later.
function watchMenu() {
  const shell = document.querySelector('[data-testid="stAppViewContainer"]');
  if (!shell) return;
  const inside = new MutationObserver(() => shell.querySelectorAll(`${ITEMS}, ${ITEMS} li`).forEach((part) => part.setAttribute("role", "none")));
  const find = () => {
    const drawer = shell.querySelector('[data-testid="stSidebar"]');
    if (drawer) inside.observe(drawer, { childList: true, subtree: true });
  };
  new MutationObserver(find).observe(shell, { childList: true });
  find();
}

let group = "";

/** Marks the group of the current page: Streamlit marks the page alone, which is in a closed menu. */
export function markGroup(title: string) {
  group = title;
  const header = document.querySelector(HEADER);
  if (header) markSection(header);
}

function markSection(header: Element) {
  for (const section of header.querySelectorAll(SECTION)) {
    if (section.querySelector(NAME)?.textContent === group) section.setAttribute("aria-current", "true");
    else section.removeAttribute("aria-current");
  }
}

const closeMenu = (drawer: Element) => (drawer.querySelector(CLOSE) as HTMLElement | null)?.click();

/** The style shows the name in place of the icon. */
function nameMenu(header: Element) {
  const menu = header.querySelector(OPEN) as HTMLElement | null;
  if (!menu || menu.dataset.name) return;
  menu.dataset.name = _("Menu");
  menu.setAttribute("aria-label", _("Menu"));
}

// Streamlit makes every option of a row of buttons a stop of the Tab key, and enters the row at its first option. Tab should enter it at
// the chosen option, as in every group of radio buttons.
function enterGroupsAtTheChosenOption() {
  let tabbed = false;
  document.addEventListener("keydown", (event) => void (tabbed = event.key === "Tab"), true);
  document.addEventListener("pointerdown", () => void (tabbed = false), true);
  document.addEventListener("focusin", ({ target, relatedTarget }) => {
    const group = (target as Element).closest?.(GROUP);
    if (!tabbed || !group || group.contains(relatedTarget as Node | null)) return;
    const chosen = group.querySelector(CHOSEN) as HTMLElement | null;
    if (chosen && chosen !== target) chosen.focus();
  });
}

// Streamlit runs the app again at R, and offers to clear its caches at C, wherever the focus is. A single letter must not do that: a reader
// who speaks to the computer or misses a field types letters too. R and C end here, before Streamlit listens.
function endShortcuts() {
  document.body.addEventListener("keydown", (event) => {
    if (/^[rc]$/i.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
}
