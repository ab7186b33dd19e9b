// A reader's own progress by confusion: how often it came up, and whether it is overcome. Only the reader's browser keeps it.

import { button, html } from "../../figures/browser/common/dom.ts";
import { Memory } from "../../figures/browser/common/memory.ts";
import { _, betweenParts, ngettext } from "../../figures/browser/common/messages.ts";
import { hasConfusion } from "./rising.ts";

/** by the id of a confusion */
type Progress = Record<string, { times: number; isOpen: boolean }>;

const PROGRESS = new Memory("localStorage", "normviz.confusions");

export function readProgress(): Progress {
  const kept = Object.entries<Progress[string]>(PROGRESS.read() ?? {}).filter(([, one]) => Number.isInteger(one?.times) && typeof one?.isOpen === "boolean");
  return Object.fromEntries(kept);
}

/** The confusions that are not overcome. */
export const openInProgress = () => Object.entries(readProgress()).filter(([, { isOpen }]) => isOpen).map(([confusion]) => confusion);

/** Writes down an exercise that is done. A right first try overcomes the confusions from which a wrong answer would have followed. */
export function keepProgress({ exercise, isRight, tries, confusions }: PracticeResult) {
  const progress = readProgress();
  if (isRight && tries.length === 1)
    for (const confusion of Object.keys(progress)) progress[confusion].isOpen &&= !hasConfusion(exercise, confusion);
  for (const confusion of new Set(confusions)) progress[confusion] = { times: (progress[confusion]?.times ?? 0) + 1, isOpen: true };
  PROGRESS.write(progress);
}

/** The progress, and the button that deletes it; nothing where there is none. */
export function drawProgress(parent: HTMLElement, { confusions }: PracticeData) {
  const known = Object.entries(readProgress()).filter(([confusion]) => confusions[confusion]);
  if (!known.length) return;
  const root = html("details", "nv-practice-progress", parent);
  html("summary", "", root, _("Your progress"));
  html("p", "nv-small", root, _("Only this browser keeps it. What came up returns in a rising set until an answer is right at the first try."));
  const list = html("ul", "", root);
  for (const [confusion, { times, isOpen }] of known.sort(([, one], [, other]) => Number(other.isOpen) - Number(one.isOpen) || other.times - one.times)) {
    const item = html("li", "", list, confusions[confusion].name);
    item.append(" ");
    html("span", "nv-small", item, [ngettext("{n} time", "{n} times", times), isOpen ? _("returns") : _("✓ overcome")].join(betweenParts()));
  }
  button("nv-practice-quiet", root, _("Delete my progress"), () => {
    PROGRESS.write({});
    root.replaceWith(Object.assign(html("p", "nv-small"), { textContent: _("Your progress is deleted."), role: "status" }));
  });
}
