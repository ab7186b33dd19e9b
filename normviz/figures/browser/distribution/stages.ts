// The values of one group at each stage of the forward pass: their mean, their spread, and in words what is done to them.

import { formatCount, formatNumber } from "../common/format.ts";
import { _, joinSentences, ngettext } from "../common/messages.ts";
import { decodeFloats } from "../tensor/arrays.ts";
import { broadcastAt, drawnPeers, factorName, factorOf, groupOf, placeOf, tensorIndex } from "../tensor/sharing.ts";

export interface Stage {
  key: string;
  title: string;
  rule: string; // what is done to the values of the stage before
  moments: string; // its mean and its variance, or mean square, in words
  meanAlone: string; // its mean in words
  values: number[]; // of the peers
  bins?: Histogram; // of all values of a large group, of which the peers are only those that are drawn
  mean: number;
  variance: number;
  spread: [number, number]; // one standard deviation to each side of the mean (RMSNorm: one root mean square of 0)
}

/**
 * ``peers``: where the values are drawn, null where they are not. ``others``: which of them are of another example.
 * ``count``: how many values are known
 */
export type Group = { peers: (Index | null)[]; others: boolean[]; count: number; size: number; stages: Stage[] };

/** The group of an element. */
export function groupStages(source: ValueSource, index: Index): Group {
  const { data } = source, { stats, params } = data, group = sentGroup(data, index), drawn = drawnPeers(data, index);
  const sent = group?.elements.length ? group : null; // with its values
  const peers = sent ? sent.elements.map((element) => placeOf(data, element)) : drawn;
  const values = data.values as DecodedValues, mean = broadcastAt(values.mean, index);
  const root = Math.sqrt(broadcastAt(values.var, index) + values.eps);
  const stage = (key: string, title: string, rule: string, from = key, minus = 0) => {
    const bins = group?.bins[from];
    const values = sent ? [...decodeFloats(sent.values[from])] : drawn.map((peer) => source.valueAt(from, peer));
    return {
      key, title, rule, values: values.map((value) => value - minus), ...momentsOf(data, key, index),
      bins: bins && { ...bins, low: bins.low - minus, high: bins.high - minus },
    };
  };
  const stages = [stage("x", "x", _("the input"))];
  const subtracted = { mean: formatNumber(mean) };
  const centering = stats.running ? _("minus the running mean {mean}", subtracted) : _("minus the mean {mean}", subtracted);
  if (stats.center) stages.push(stage("centered", _("centered"), centering, "x", mean));
  stages.push(stage("normalized", _("normalized"), dividingRule(data, root)));
  if (params) stages.push(stage("output", _("output"), parameterRule(data, drawn)));
  const batch = batchAxis(data.axes), own = tensorIndex(data, index)[batch];
  const elements = sent ? sent.elements : drawn.map((peer) => tensorIndex(data, peer));
  const others = elements.map((element) => batch >= 0 && element[batch] !== own);
  return { peers, others, count: group?.count ?? peers.length, size: stats.size, stages };
}

/** What was sent of the group of an element that is not drawn whole. */
const sentGroup = ({ group, stats }: DecodedData, index: Index) => (group && group.id === groupOf(stats.tables, index) ? group : null);

/** The number of the axis of examples, as normviz.layers.axes.example_axis finds it; -1 if x has none. */
const batchAxis = (axes: string[]) => (axes[0] === "b" && !axes.includes("n") && (axes.includes("c") || axes.includes("d")) ? 0 : axes.indexOf("n"));

/** The input and the output alone, with what the layer does between them. */
export function inAndOut(data: DecodedData, stages: Stage[], index: Index) {
  const { stats, params } = data, [first, last] = [stages[0], stages[stages.length - 1]], { moments, meanAlone } = momentsOf(data, last.key, index, false);
  const rule = `${stats.center ? "(x − mean) / √(var + eps)" : "x / √(ms + eps)"}${params ? ` · ${params.zero_centered_gamma ? "(1 + gamma)" : "gamma"}` : ""}${params?.bias ? " + beta" : ""}`;
  return [first, { ...last, title: _("output"), rule, moments, meanAlone }];
}

/** ``derived``: whether the numbers of the normalized values say how they follow from those before */
function momentsOf(data: DecodedData, stage: string, index: Index, derived = true) {
  const { stats } = data, found = data.moments?.[stage] as Moments<FloatArray>;
  const mean = broadcastAt(found.mean, index), variance = broadcastAt(found.var, index), square = variance + mean * mean;
  const isNormalized = stage === "normalized" && !stats.running, exact = isNormalized && derived, digits = isNormalized || stage === "output" ? 6 : 4;
  const half = Math.sqrt(stats.center ? variance : square), middle = stats.center ? mean : 0;
  const numbers = { mean: formatNumber(mean), variance: formatNumber(variance, digits), square: formatNumber(square, digits) };
  return {
    mean,
    variance,
    spread: [middle - half, middle + half] as [number, number],
    meanAlone: _("mean {mean}", numbers),
    moments: stats.center
      ? exact ? _("mean {mean} · variance {variance} = var / (var + eps)", numbers) : _("mean {mean} · variance {variance}", numbers)
      : exact ? _("mean {mean} · mean square {square} = ms / (ms + eps)", numbers) : _("mean {mean} · mean square {square}", numbers),
  };
}

function dividingRule({ stats }: DecodedData, divisor: number) {
  const values = { root: stats.center ? "√(var + eps)" : "√(ms + eps)", divisor: formatNumber(divisor) };
  const same = values.divisor === "1";
  if (divisor > 1 && !same) return _("divided by {root} = {divisor}: narrower", values);
  return divisor < 1 && !same ? _("divided by {root} = {divisor}: wider", values) : _("divided by {root} = {divisor}", values);
}

function parameterRule({ values: given, params }: DecodedData, peers: Index[]) {
  const { gamma, beta } = given as DecodedValues, name = factorName(params);
  const only = (array: FloatArray | undefined) => {
    const found = new Set(array ? peers.map((peer) => broadcastAt(array, peer)) : [0]);
    return found.size === 1 ? [...found][0] : null;
  };
  const [own, shift] = [only(gamma), only(beta)];
  if (own === null || shift === null)
    return beta ? _("times {factor}, plus beta, which differ within the group", { factor: name }) : _("times {factor}, which differs within the group", { factor: name });
  const factor = factorOf(params, own), values = { factor: name, number: formatNumber(factor), beta: formatNumber(shift) };
  if (factor === 1 && !shift) return beta ? _("times {factor} = 1, plus beta = 0: unchanged", values) : _("times {factor} = 1: unchanged", values);
  return beta ? _("times {factor} = {number}, plus beta = {beta}", values) : _("times {factor} = {number}", values);
}

/** What the marks mean, if they are drawn, and what does not hold for this group. */
export function notesOf({ stats }: DecodedData, { others, count, size, stages: [{ bins }] }: Group, marked = true) {
  const legend = stats.center
    ? _("Tick: the mean. Bar: one standard deviation to each side.")
    : _("Tick: the mean. Bar: one root mean square to each side of 0.");
  const notes = marked ? [legend] : [];
  if (others.includes(true) && !bins) notes.push(_("Hollow dots: other examples."));
  if (count < size && bins)
    notes.push(ngettext(
      "Estimated from a sample of {count} of the {n} value of the group.",
      "Estimated from a sample of {count} of the {n} values of the group.", size, { count: formatCount(count) }));
  else if (count < size)
    notes.push(
      ngettext(
        "Dots: the {drawn} of {n} value that are drawn above.",
        "Dots: the {drawn} of {n} values that are drawn above.", size, { drawn: formatCount(count) }),
      _("The numbers are for the whole group."));
  if (stats.running)
    notes.push(_("The running mean and variance were not computed from this group: its mean need not become 0, nor its variance 1."));
  return joinSentences(notes);
}

/** What the motion into a step shows; empty for a step that is not drawn. */
export function motionText({ stats, params }: DecodedData, group: Group, step: string) {
  const { size, stages } = group, x = stages[0], [low, high] = x.spread;
  if (step === "x") return ngettext("{n} value in a group of its own.", "{n} values in one group, before anything is computed.", size);
  if (step === "mean" && !stats.running)
    return ngettext("The group has {n} value; its mean is that value.", "The group has {n} values; they share the mean {mean}.", size, { mean: formatNumber(x.mean) });
  if (step === "mean") return _("No value of this group flows into its running mean: it is stored in the layer.");
  if (step === "centered") return _("All values move by the same distance. Their spread does not change.");
  if (step === "var" && stats.center && !stats.running) return _("The bar is √var = {root} long on each side of the mean.", { root: formatNumber((high - low) / 2) });
  if (step === "normalized") return _("All values are divided by the same number. Zero stays where it is.");
  if (step === "output" && params)
    return params.bias
      ? _("Each value is multiplied by its {factor} and its beta is added; the panel of the step shows which elements share them.", { factor: factorName(params) })
      : _("Each value is multiplied by its {factor}; the panel of the step shows which elements share it.", { factor: factorName(params) });
  return "";
}
