// The values of one group at each stage of the forward pass: their mean, their spread, and in words what is done to them.

import { formatCount, formatNumber } from "../common/format.js";
import { _, joinSentences, ngettext } from "../common/messages.js";
import { broadcastAt, drawnPeers, factorName, factorOf } from "../tensor/sharing.js";

/**
 * @typedef {object} Stage
 * @property {string} key
 * @property {string} title
 * @property {string} rule what is done to the values of the stage before
 * @property {string} moments its mean and its variance, or mean square, in words
 * @property {string} meanAlone its mean in words
 * @property {number[]} values of the peers
 * @property {number} mean
 * @property {number} variance
 * @property {[number, number]} spread one standard deviation to each side of the mean (RMSNorm: one root mean square of 0)
 */

/** @typedef {{ peers: Index[], others: boolean[], complete: boolean, size: number, stages: Stage[] }} Group ``others``: which peers are of another example */

/**
 * The group of an element.
 * @param {ValueSource} source
 * @param {Index} index
 * @returns {Group}
 */
export function groupStages(source, index) {
  const { data } = source, { stats, params } = data, peers = drawnPeers(data, index);
  const values = /** @type {DecodedValues} */ (data.values), mean = broadcastAt(values.mean, index);
  const root = Math.sqrt(broadcastAt(values.var, index) + values.eps);
  /** @param {string} key @param {string} title @param {string} rule @param {(peer: Index) => number} value */
  const stage = (key, title, rule, value) => ({ key, title, rule, values: peers.map(value), ...momentsOf(data, key, index) });
  const stages = [stage("x", "x", _("the input"), (peer) => source.valueAt("x", peer))];
  const subtracted = { mean: formatNumber(mean) };
  const centering = stats.running ? _("minus the running mean {mean}", subtracted) : _("minus the mean {mean}", subtracted);
  if (stats.center) stages.push(stage("centered", _("centered"), centering, (peer) => source.valueAt("x", peer) - mean));
  stages.push(stage("normalized", _("normalized"), dividingRule(data, root), (peer) => source.valueAt("normalized", peer)));
  if (params) stages.push(stage("output", _("output"), parameterRule(data, peers), (peer) => source.valueAt("output", peer)));
  const batch = batchAxis(data.axes), others = peers.map((peer) => batch >= 0 && peer[batch] !== index[batch]);
  return { peers, others, complete: peers.length === stats.size, size: stats.size, stages };
}

/**
 * The number of the axis of examples, as normviz.layers.axes.example_axis finds it; -1 if x has none.
 * @param {string[]} axes
 */
const batchAxis = (axes) => (axes[0] === "b" && !axes.includes("n") && (axes.includes("c") || axes.includes("d")) ? 0 : axes.indexOf("n"));

/**
 * The input and the output alone, with what the layer does between them.
 * @param {DecodedData} data
 * @param {Stage[]} stages
 * @param {Index} index
 */
export function inAndOut(data, stages, index) {
  const { stats, params } = data, [first, last] = [stages[0], stages[stages.length - 1]], { moments, meanAlone } = momentsOf(data, last.key, index, false);
  const rule = `${stats.center ? "(x − mean) / √(var + eps)" : "x / √(ms + eps)"}${params ? ` · ${params.zero_centered_gamma ? "(1 + gamma)" : "gamma"}` : ""}${params?.bias ? " + beta" : ""}`;
  return [first, { ...last, title: _("output"), rule, moments, meanAlone }];
}

/**
 * @param {DecodedData} data
 * @param {string} stage
 * @param {Index} index
 * @param {boolean} [derived] whether the numbers of the normalized values say how they follow from those before
 */
function momentsOf(data, stage, index, derived = true) {
  const { stats } = data, found = /** @type {Moments<FloatArray>} */ (data.moments?.[stage]);
  const mean = broadcastAt(found.mean, index), variance = broadcastAt(found.var, index), square = variance + mean * mean;
  const isNormalized = stage === "normalized" && !stats.running, exact = isNormalized && derived, digits = isNormalized || stage === "output" ? 6 : 4;
  const half = Math.sqrt(stats.center ? variance : square), middle = stats.center ? mean : 0;
  const numbers = { mean: formatNumber(mean), variance: formatNumber(variance, digits), square: formatNumber(square, digits) };
  return {
    mean,
    variance,
    spread: /** @type {[number, number]} */ ([middle - half, middle + half]),
    meanAlone: _("mean {mean}", numbers),
    moments: stats.center
      ? exact ? _("mean {mean} · variance {variance} = var / (var + eps)", numbers) : _("mean {mean} · variance {variance}", numbers)
      : exact ? _("mean {mean} · mean square {square} = ms / (ms + eps)", numbers) : _("mean {mean} · mean square {square}", numbers),
  };
}

/**
 * @param {DecodedData} data
 * @param {number} divisor
 */
function dividingRule({ stats }, divisor) {
  const values = { root: stats.center ? "√(var + eps)" : "√(ms + eps)", divisor: formatNumber(divisor) };
  const same = values.divisor === "1";
  if (divisor > 1 && !same) return _("divided by {root} = {divisor}: narrower", values);
  return divisor < 1 && !same ? _("divided by {root} = {divisor}: wider", values) : _("divided by {root} = {divisor}", values);
}

/**
 * @param {DecodedData} data
 * @param {Index[]} peers
 */
function parameterRule({ values: given, params }, peers) {
  const { gamma, beta } = /** @type {DecodedValues} */ (given), name = factorName(params);
  /** @param {FloatArray | undefined} array */
  const only = (array) => {
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

/**
 * What the marks mean, if they are drawn, and what does not hold for this group.
 * @param {DecodedData} data
 * @param {Group} group
 * @param {boolean} marked
 */
export function notesOf({ stats }, { peers, others, complete, size }, marked = true) {
  const legend = stats.center
    ? _("Tick: the mean. Bar: one standard deviation to each side.")
    : _("Tick: the mean. Bar: one root mean square to each side of 0.");
  const notes = marked ? [legend] : [];
  if (others.includes(true)) notes.push(_("Hollow dots: other examples."));
  if (!complete)
    notes.push(ngettext("Dots: the {drawn} of {n} value that are drawn above.", "Dots: the {drawn} of {n} values that are drawn above.", size, { drawn: formatCount(peers.length) }), _("The numbers are for the whole group."));
  if (stats.running)
    notes.push(_("The running mean and variance were not computed from this group: its mean need not become 0, nor its variance 1."));
  return joinSentences(notes);
}

/**
 * What the motion into a step shows; empty for a step that is not drawn.
 * @param {DecodedData} data
 * @param {Group} group
 * @param {string} step
 */
export function motionText({ stats, params }, group, step) {
  const { size, stages } = group, x = stages[0], [low, high] = x.spread;
  if (step === "x") return ngettext("{n} value in a group of its own.", "{n} values in one group, before anything is computed.", size);
  if (step === "mean" && !stats.running)
    return ngettext("The group has {n} value; its mean is that value.", "The group has {n} values; they share the mean {mean}.", size, { mean: formatNumber(x.mean) });
  if (step === "mean") return _("No value of this group flows into its running mean: it was stored in training.");
  if (step === "centered") return _("All values move by the same distance. Their spread does not change.");
  if (step === "var" && stats.center && !stats.running) return _("The bar is √var = {root} long on each side of the mean.", { root: formatNumber((high - low) / 2) });
  if (step === "normalized") return _("All values are divided by the same number. Zero stays where it is.");
  if (step === "output" && params)
    return params.bias
      ? _("Each value is multiplied by its {factor} and its beta is added; the panel of the step shows which elements share them.", { factor: factorName(params) })
      : _("Each value is multiplied by its {factor}; the panel of the step shows which elements share it.", { factor: factorName(params) });
  return "";
}
