// Another value of x, or another gamma and beta: what follows, computed in the browser from the eps, gamma, beta and values that torch gave.

import { decodeFloats } from "./arrays.ts";
import { broadcastAt, broadcastPosition, drawnPeers, factorOf, positionOf } from "./sharing.ts";
import { sentPlace } from "./slices.ts";

type GroupMoments = Moments<number>;

/** The group of an element is drawn whole, so that its mean and variance can be computed from what is drawn. */
export const isDrawnWhole = (data: DecodedData, index: Index) => Boolean(data.values) && drawnPeers(data, index).length === data.stats.size;

/**
 * The data with another value of one element of x. Mean and variance of its group are computed again, in two passes in float64;
 * running statistics stay. Other groups stay, and so do the ends of the color scales. A group that is not drawn whole stays as it is.
 */
export function withValue(data: DecodedData, index: Index, value: number): DecodedData {
  const { stats, values } = data;
  if (!values || !isDrawnWhole(data, index)) return data;
  const peers = drawnPeers(data, index), extent = data.sent.indices.map(({ length }) => length);
  const placeIn = (peer: Index) => positionOf(sentPlace(data, peer) as Index, extent);
  const places = peers.map(placeIn), z = new Map(data.panels.map((panel) => [panel.key, panel.z && decodeFloats(panel.z).slice()]));
  const xs = z.get("x") as Float32Array;
  xs[placeIn(index)] = value;
  const x = places.map((place) => xs[place]), own = twoPassMoments(x);
  const mean = stats.running ? broadcastAt(values.mean, index) : stats.center ? own.mean : 0;
  const variance = stats.running ? broadcastAt(values.var, index) : stats.center ? own.var : average(x.map((one) => one * one));
  const root = Math.sqrt(variance + values.eps), normalized = x.map((one) => (one - mean) / root);
  const factors = peers.map((peer) => (values.gamma ? factorOf(data.params, broadcastAt(values.gamma, peer)) : 1));
  const betas = peers.map((peer) => (values.beta ? broadcastAt(values.beta, peer) : 0));
  const output = normalized.map((one, number) => one * factors[number] + betas[number]);
  for (const [key, numbers] of Object.entries({ normalized, output }))
    numbers.forEach((number, peer) => {
      const array = z.get(key);
      if (array) array[places[peer]] = number;
    });
  const centered = { mean: stats.running ? own.mean - mean : 0, var: own.var }, scaled = linear(stats.center ? centered : own, 1 / root, 0);
  const alike = [factors, betas].every((numbers) => numbers.every((number) => number === numbers[0]));
  /** By the rules of normviz.analysis.excerpt: a mean that is 0 in exact arithmetic is 0. */
  const moments: Record<string, GroupMoments> = {
    x: own, centered: stats.center ? centered : own, normalized: scaled,
    output: alike ? linear(scaled, factors[0], betas[0]) : twoPassMoments(output),
  };
  const inGroup = (array: FloatArray, number: number): FloatArray => withNumber(array, peers, number);
  return {
    ...data,
    panels: data.panels.map((panel) => (["x", "normalized", "output"].includes(panel.key) ? withFloats(panel, z.get(panel.key)) : panel)),
    values: stats.running ? values : { ...values, mean: inGroup(values.mean, mean), var: inGroup(values.var, variance) },
    moments: data.moments && Object.fromEntries(Object.entries(data.moments).map(([stage, before]) =>
      [stage, { mean: inGroup(before.mean, moments[stage].mean), var: inGroup(before.var, moments[stage].var) }])),
  };
}

const average = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** In two passes: the mean, and the mean of the squared deviations. */
function twoPassMoments(numbers: number[]): GroupMoments {
  const mean = average(numbers);
  return { mean, var: average(numbers.map((number) => (number - mean) ** 2)) };
}

/** The moments of ``values * factor + shift``. */
const linear = (moments: GroupMoments, factor: number, shift: number): GroupMoments => ({ mean: moments.mean * factor + shift, var: moments.var * factor * factor });

/** The array with this number for the elements of one group. The array broadcasts over the drawn elements. */
function withNumber({ shape, values }: FloatArray, peers: Index[], number: number): FloatArray {
  const changed = values.slice();
  for (const peer of peers) changed[broadcastPosition(shape, peer)] = number;
  return { shape, values: changed };
}

const withFloats = (panel: PanelData, values: Float32Array | null | undefined): PanelData => (values ? { ...panel, z: { shape: panel.z?.shape ?? [], data: "", values } } : panel);

// Gamma and beta

/** The data of a layer whose every gamma and beta have these values; a layer without beta keeps none. */
export function withGammaAndBeta(data: DecodedData, { gamma, beta: wanted }: GammaBetaChoice): DecodedData {
  const { values, moments, params } = data, beta = params?.bias ? wanted : 0, factor = factorOf(params, gamma);
  const normalized = data.panels.find(({ key }) => key === "normalized");
  if (!values || !params || !normalized?.z) return data;
  const scaled = (value: number) => factor * value + beta;
  const spread = (variance: number) => factor * factor * variance;
  const changed = ({ shape, values: numbers }: FloatArray, change: (number: number) => number): FloatArray => ({ shape, values: numbers.map(change) });
  const everywhere = (number: number) => ({ shape: data.grid.shape.map(() => 1), values: Float32Array.of(number) });
  const output = decodeFloats(normalized.z).map(scaled), finite = output.filter(Number.isFinite);
  const most = finite.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1, before = moments?.normalized;
  return {
    ...data,
    values: { ...values, gamma: everywhere(gamma), ...(params.bias ? { beta: everywhere(beta) } : {}) },
    panels: data.panels.map((panel) => panel.key !== "output" ? panel : {
      ...panel, z: { shape: normalized.z?.shape ?? [], data: "", values: output }, low: -most, high: most,
    }),
    group: data.group && scaledGroup(data.group, factor, beta),
    moments: before ? { ...moments, output: { mean: changed(before.mean, scaled), var: changed(before.var, spread) } } : moments,
  };
}

/** The values of a group with another output. */
function scaledGroup(group: GroupData, factor: number, beta: number): GroupData {
  const { values: { normalized: values }, bins: { normalized: bins } } = group;
  const ends = bins && [bins.low, bins.high].map((end) => factor * end + beta).sort((a, b) => a - b);
  const output = values && { ...values, data: "", values: decodeFloats(values).map((value) => factor * value + beta) };
  return {
    ...group,
    values: values ? { ...group.values, output } : {},
    bins: bins ? { ...group.bins, output: { low: ends[0], high: ends[1], counts: factor < 0 ? [...bins.counts].reverse() : bins.counts } } : {},
  };
}
