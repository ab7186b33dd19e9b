// Every text that a reader sees passes through here, so that a translation needs no change of code.

import { formatCount } from "./format.ts";

/** The message in the reader's language, its ``{placeholders}`` filled by ``values``. */
export function _(message: string, values: Values = {}) {
  return fill((TRANSLATIONS[message] ?? message) as string, values);
}

/** The element says which language its texts have, because the page around it may have another one. */
export function declareLanguage(root: HTMLElement) {
  root.lang = LANGUAGE.tag;
  root.dir = LANGUAGE.direction;
}

/** The message in the plural form that ``n`` selects; ``{n}`` is the number. */
export function ngettext(one: string, many: string, n: number, values: Values = {}) {
  const forms = TRANSLATIONS[one] ?? [one, many];
  return fill(forms[one in TRANSLATIONS ? pluralForm(n) : Number(n !== 1)], { n: formatCount(n), ...values });
}

/** What is between two sentences: a space, or in a language such as Chinese nothing. */
export const betweenSentences = () => _("{first} {second}", { first: "", second: "" });

/** Sentences as one text. */
export const joinSentences = (sentences: string[]) => sentences.join(betweenSentences());

/** What is between two parts of a phrase: a comma as the language writes it. */
export const betweenParts = () => _("{first}, {second}", { first: "", second: "" });

/** Placeholders without a value stay, for ``words``. */
function fill(message: string, values: Values) {
  return message.replace(/\{(\w+)\}/g, (placeholder, name) => String(values[name] ?? placeholder)).replace(WITHIN_CHINESE, "");
}

// Chinese has spaces around Latin words and numbers, which a placeholder often is, and none within Chinese.
const WITHIN_CHINESE = /(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]) (?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])/g;

/** The message as words: its ``{placeholders}`` become code or bold type. */
export function words(message: string, values: Record<string, Word>): Phrase {
  const parts = message.split(/\{(\w+)\}/);
  return parts.map((part, i) => (i % 2 ? values[part] : part)).filter((word) => word !== "");
}
