// What test_differs.py does with the two differs, on the nodes of dom.ts.

import "./dom.ts";
import { synchronize } from "../../normviz/lessons/browser/synchronize.ts";
import { morph, parse } from "../../normviz/parts/browser/morph.ts";

type Made = HTMLElement & { all: Made[]; wasRemoved: boolean; checked?: boolean; value?: string };

const byId = (elements: Made[]) => new Map(elements.map((element) => [element.getAttribute("id") ?? "", element]));

/**
 * Shows each of the texts in turn, and makes the edits of scripts and readers after the first: [id, attribute or "text", value].
 * Returns the HTML, and the ids of the elements that are still those of the first text.
 */
export function show(texts: string[], edits: [string, string, string][]) {
  const root = document.createElement("div") as unknown as Made, isDrawn = (element: Element) => element.getAttribute("class") === "drawn";
  morph(root, parse(texts[0]), isDrawn);
  const first = byId(root.all);
  for (const [id, name, value] of edits)
    if (name === "text") (first.get(id) as Made).textContent = value;
    else first.get(id)?.setAttribute(name, value);
  for (const text of texts.slice(1)) morph(root, parse(text), isDrawn);
  const now = byId(root.all);
  return [root.innerHTML, [...now.keys()].filter((id) => id && now.get(id) === first.get(id))];
}

/**
 * Makes the element of the first text like the element of the second. ``state``: by id, what fields have beside their attributes;
 * ``typed``: the id of the field that a reader is typing into. Returns the HTML, the ids of the elements of the first text that have
 * never left it, and the state of fields.
 */
export function makeAlike(texts: string[], state: ["page" | "wanted", string, "value" | "checked", any][], typed: string) {
  const [element, wanted] = texts.map((text) => {
    const template = document.createElement("template");
    template.innerHTML = text;
    return template.content.children[0] as unknown as Made;
  });
  const first = byId([element, ...element.all]), asked = byId([wanted, ...wanted.all]);
  for (const [place, id, name, value] of state) ((place === "page" ? first : asked).get(id) as any)[name] = value;
  synchronize(element, wanted, first.get(typed) as HTMLInputElement | undefined);
  const now = byId([element, ...element.all]), fields = [...now].filter(([, one]) => "value" in one);
  const kept = [...now].filter(([id, one]) => id && one === first.get(id) && !one.wasRemoved).map(([id]) => id);
  return [element.outerHTML, kept, Object.fromEntries(fields.map(([id, one]) => [id, [one.value, one.checked ?? null]]))];
}
