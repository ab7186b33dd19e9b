// What is said of one element: the read-out line, the worked arithmetic, and the table of statistics.

const MOST_TERMS = 5;

// A number that several elements share: laid like x, with 1 on the axes along which it is shared.
function sharedAt(array, index) {
  let at = 0;
  array.shape.forEach((size, axis) => (at = at * size + (size > 1 ? index[axis] : 0)));
  return array.values[at];
}

// Which gamma, mean or running mean an element meets: its index along the named axes.
function placeOf(axes, data, index) {
  return axes.map(({ axis, divide, modulo }) => Math.floor((index[axis] + data.grid.start[axis]) / divide) % modulo);
}

const whole = (data, index) => index.map((at, axis) => at + data.grid.start[axis]);

function readout(view, index) {
  const { data } = view, parts = [];
  if (!index) return [["Point at an element to see whose mean, variance, gamma and beta it shares."]];
  const name = bracketed("x", whole(data, index)), values = data.values;
  parts.push([{ code: values ? `${name} = ${number(view.valueAt("x", index))}` : name }]);
  const others = data.stats.size - 1;
  const meanText = values && data.stats.center ? ` ${number(sharedAt(values.mean, index))}` : "";
  const varText = values ? ` ${number(sharedAt(values.var, index))}` : "";
  const word = data.stats.running ? "running " : "";
  const what = data.stats.center ? `its ${word}mean${meanText} and ${word}variance${varText}` : `its mean square${varText}`;
  parts.push(others ? [`shares ${what} with `, { strong: others.toLocaleString("en") }, others === 1 ? " other" : " others"] : [`has ${what} to itself`]);
  if (data.params) {
    const place = placeOf(data.params.axes, data, index);
    const learned = data.params.bias ? ["gamma", "beta"] : ["gamma"];
    const texts = learned.map((kind) => ({ code: bracketed(kind, place) + (values ? ` = ${number(sharedAt(values[kind], index))}` : "") }));
    const met = data.params.met - 1;
    parts.push([
      "meets ", texts[0], ...(texts[1] ? [" and ", texts[1]] : []),
      ...(met ? [met === 1 ? ", as does " : ", as do ", { strong: met.toLocaleString("en") }, met === 1 ? " other" : " others"] : [", alone"]),
    ]);
  } else parts.push(["no gamma, no beta"]);
  return parts;
}

function spoken(parts) {
  return parts.map((part) => part.map((word) => (typeof word === "string" ? word : (word.code ?? word.strong))).join("")).join(" · ");
}

// The members of an element's group: all values where all are drawn, else those that are.
function members(view, index) {
  const { data } = view, alike = data.stats.tables.map((table, axis) => positions(table, table[index[axis]]));
  const found = [];
  let total = alike.reduce((product, list) => product * list.length, 1);
  const at = (number) => {
    const chosen = [];
    for (let axis = alike.length - 1; axis >= 0; axis--) {
      chosen[axis] = alike[axis][number % alike[axis].length];
      number = Math.floor(number / alike[axis].length);
    }
    return view.valueAt("x", chosen);
  };
  for (let i = 0; i < total; i++) found.push(at(i));
  return { values: found, complete: total === data.stats.size };
}

function abbreviated(terms, complete, last) {
  if (terms.length <= MOST_TERMS && complete) return terms.join(" + ");
  return [...terms.slice(0, 3), "…", ...(complete ? [terms[terms.length - 1]] : last ? [last] : [])].join(" + ");
}

// The arithmetic of one element: [what, how, result] a line.
function worked(view, index) {
  const { data } = view, { stats, values } = data, size = stats.size;
  const x = view.valueAt("x", index), mean = sharedAt(values.mean, index), variance = sharedAt(values.var, index);
  const normalized = view.valueAt("normalized", index), output = view.valueAt("output", index);
  const lines = [], group = stats.running ? null : members(view, index);
  const numbers = group?.values ?? [], complete = group?.complete;
  const sum = complete ? numbers.reduce((a, b) => a + b, 0) : mean * size;
  if (stats.running) {
    const place = placeOf(stats.axes, data, index);
    lines.push(["mean", bracketed("running_mean", place), number(mean)], ["variance", bracketed("running_var", place), number(variance)]);
  } else if (stats.center) {
    lines.push(["sum", abbreviated(numbers.map(inBrackets), complete), number(sum)]);
    lines.push(["mean", `${number(sum)} / ${size.toLocaleString("en")}`, number(mean)]);
    const squares = numbers.map((value) => `(${number(value)} \u2212 ${inBrackets(mean)})²`);
    lines.push(["squared deviations", abbreviated(squares, complete), number(variance * size)]);
    lines.push(["variance", `${number(variance * size)} / ${size.toLocaleString("en")}`, number(variance)]);
  } else {
    lines.push(["squares", abbreviated(numbers.map((value) => `${inBrackets(value)}²`), complete), number(variance * size)]);
    lines.push(["mean square", `${number(variance * size)} / ${size.toLocaleString("en")}`, number(variance)]);
  }
  const above = stats.center ? `(${number(x)} \u2212 ${inBrackets(mean)})` : number(x);
  if (stats.center) lines.push(["deviation", `${number(x)} \u2212 ${inBrackets(mean)}`, number(x - mean)]);
  lines.push(["normalized", `${above} / √(${number(variance)} ${values.eps < 0 ? "\u2212" : "+"} ${number(Math.abs(values.eps), 3)})`, number(normalized)]);
  if (data.params) {
    const shift = data.params.bias ? ` + ${inBrackets(sharedAt(values.beta, index))}` : "";
    lines.push(["output", `${number(normalized)} · ${inBrackets(sharedAt(values.gamma, index))}${shift}`, number(output)]);
  } else lines.push(["output", "as normalized", number(output)]);
  return lines;
}

// Every statistics group that is drawn, up to a hundred: where it is kept, and its numbers.
function statisticsRows(data, most = 100) {
  const seen = new Map(), { stats, values } = data;
  const lengths = stats.tables.map((table) => table.length);
  const firsts = stats.tables.map((table) => table.map((id, at) => [id, at]).filter(([id, at]) => table.indexOf(id) === at).map(([, at]) => at));
  const visit = (axis, index) => {
    if (seen.size >= most) return;
    if (axis === lengths.length) {
      seen.set(groupOf(stats.tables, index), [...index]);
      return;
    }
    for (const at of firsts[axis]) visit(axis + 1, [...index, at]);
  };
  visit(0, []);
  return [...seen.values()].map((index) => ({
    place: placeOf(stats.axes, data, index),
    mean: sharedAt(values.mean, index),
    variance: sharedAt(values.var, index),
  }));
}
