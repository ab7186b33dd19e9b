// Numbers as readers type them. normviz/scene/setting.py explains the rule; one table of inputs tests both.

import { _ } from "./messages.ts";

const GROUPS = /^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;
const SPACED_NUMBER = /^[-+]?\d{1,3}( \d{3})+(?=[.,e]|$)/i;
const TYPED_NUMBER = /^([-+]?)(?=[.,]*\d)([\d.,]+)(e[-+]?\d+)?$/i;

/** The text with ASCII's digits, brackets, commas, minus signs and spaces in place of those of other keyboards. */
export const plainSigns = (text: string) =>
  text
    .replace(/[\u00a0\u2009\u202f\u3000]/g, " ")
    .replace(/[\u2010-\u2013\u2212]/g, "-")
    .replace(/\u3001/g, ",")
    .replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0));

/**
 * The number that a reader has typed; NaN if it is none, or if it can be read in more than one way.
 * @param isWhole whether a whole number is wanted
 */
export function readNumber(text: string, isWhole = false) {
  const { number, isClear } = numberIn(text, isWhole);
  return isClear ? Number(number || NaN) : NaN;
}

/** The question to a reader whose number can be read in more than one way; "" for other texts. */
export function askNumber(text: string, isWhole = false) {
  const { number, isClear } = numberIn(text, isWhole);
  return isClear ? "" : _("{typed} can be read in more than one way. Write {number} if you mean that number.", { typed: `'${text.trim()}'`, number });
}

/** @returns ``number``: as JavaScript reads it; "" for a text that is none */
function numberIn(text: string, isWhole: boolean): { number: string, isClear: boolean } {
  const plain = plainSigns(text).trim(), spaced = plain.match(SPACED_NUMBER)?.[0] ?? "";
  const found = (spaced.replaceAll(" ", "") + plain.slice(spaced.length)).match(TYPED_NUMBER);
  if (!found) return { number: "", isClear: true };
  const [, sign, digits, exponent = ""] = found, swapped = digits.replace(/[.,]/g, (one) => (one === "." ? "," : "."));
  const [chosen, isClear] = chooseDigits(digits, withoutGroups(digits, !spaced), withoutGroups(swapped, !spaced), isWhole);
  return chosen ? { number: sign + chosen + exponent, isClear } : { number: "", isClear: true };
}

/**
 * The digits by one of the two conventions, and whether they are the only meaning.
 * @param point the digits where a point begins the decimals; "" if they are not written so
 */
function chooseDigits(digits: string, point: string, comma: string, isWhole: boolean): [string, boolean] {
  const signs = digits.match(/[.,]/g) ?? [], hasBoth = new Set(signs).size > 1, either = point || comma;
  if (!LANGUAGE.decimalComma) return point || !comma.includes(".") ? [either, true] : isWhole ? ["", true] : [comma, false]; // a decimal comma is no whole number
  if (hasBoth) return [either, false];
  if (signs.length !== 1) return [either, true];
  const [decimal, thousands] = signs[0] === "." ? [point, comma] : [comma, point];
  return isWhole && thousands ? [thousands, false] : [decimal, true];
}

function withoutGroups(digits: string, mayBeGrouped: boolean) {
  if (/^\d*\.?\d*$/.test(digits)) return digits;
  return mayBeGrouped && GROUPS.test(digits) ? digits.replaceAll(",", "") : "";
}
