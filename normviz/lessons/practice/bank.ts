// All exercises, which a file carries because no server chooses among them, and the choice of a set.

type PracticeBank = { index: [kind: string, family: string, level: number, topic: string, form: string][]; exercises: PracticeExercise[] };

const NUMBERS = 2 ** 32;
const INCREMENT = 0x9e3779b9;
const MULTIPLIERS = [0x85ebca6b, 0xc2b2ae35];

/** How exercises are answered in a set that names no kinds. Kinds that are new have another form: a kept link keeps its exercises. */
const FIRST_FORMS = ["number", "mark", "choice"];
export const RISING = "rising";

/**
 * What chooses the exercises of a set from the bank in an element of the page, or all from which those of a rising set are taken; null:
 * there is no bank, because a server chooses.
 */
export function bankIn(root: HTMLElement) {
  const carried = root.querySelector(":scope > .nv-bank");
  let bank: Promise<PracticeBank> | undefined;
  const choose = async ({ seed, count, topics, level, kinds, mixture }: PracticeSet) => {
    const { index, exercises } = await (bank ??= unpackBank(carried?.textContent ?? ""));
    const topicsOf = topics ? topics.split(",") : [], forms = kinds ? kinds.split(",") : [];
    if (level === RISING) return exercises.filter(({ topic, form }) => (!topics || topicsOf.includes(topic)) && (!kinds || forms.includes(form)));
    const wanted = { seed: Number(seed), count: Number(count), topics: topicsOf, level: Number(level) || null, forms, mixture: mixture ? Number(mixture) : null };
    return choosePlaces(index, wanted).map((place) => exercises[place]);
  };
  return carried && choose;
}

async function unpackBank(packed: string): Promise<PracticeBank> {
  const bytes = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** ``mixture``: the number that parallel sets share */
type Wanted = { seed: number, count: number, topics: readonly string[], level: number | null, forms?: readonly string[], mixture?: number | null };

/**
 * The places of the exercises of a set in the bank. lessons/practice/bank.py documents the rule and makes the same choice in Python.
 * @param index in the order of the bank
 */
function choosePlaces(index: PracticeBank["index"], wanted: Wanted): number[] {
  const { seed, count, topics, level, forms = [], mixture = null } = wanted, random = new Random(seed);
  if (mixture !== null) return chooseLike(index, choosePlaces(index, { ...wanted, seed: mixture, mixture: null }), random);
  const kinds = new Map<string, Map<string, number[]>>();
  index.forEach(([kind, family, itsLevel, topic, form], place) => {
    if ((level && itsLevel !== level) || (topics.length && !topics.includes(topic)) || !(forms.length ? forms : FIRST_FORMS).includes(form)) return;
    addPlace(kinds, kind, family, place);
  });
  const order = [...kinds.keys()], chosen = [];
  const turns = random.shuffled(order).map((kind) => ({ turn: 0, kind }));
  for (let next = turns.shift(); next && chosen.length < count; next = turns.shift()) {
    const { turn, kind } = next, families = kinds.get(kind) ?? new Map(), place = draw(families, random);
    chosen.push({ place, keys: [index[place][2], turn, order.indexOf(kind)] });
    if (families.size) turns.push({ turn: turn + 1, kind });
  }
  const before = (one: { keys: number[] }, other: { keys: number[] }): number => one.keys.map((key, at) => key - other.keys[at]).find((difference) => difference) ?? 0;
  return chosen.sort(before).map(({ place }) => place);
}

/** Writes down a place by its kind, or by its kind and level, and by its family. */
function addPlace(groups: Map<string, Map<string, number[]>>, group: string, family: string, place: number) {
  const families = groups.get(group) ?? new Map<string, number[]>(), places = families.get(family) ?? [];
  places.push(place);
  groups.set(group, families.set(family, places));
}

/** A place of one of the families, which loses it. */
function draw(families: Map<string, number[]>, random: Random) {
  const family = [...families.keys()][random.below(families.size)], places = families.get(family) ?? [];
  const [place] = places.splice(random.below(places.length), 1);
  if (!places.length) families.delete(family);
  return place;
}

/** Places of exercises of the same kinds and levels in the same order. */
function chooseLike(index: PracticeBank["index"], parallel: number[], random: Random) {
  const slots = new Map<string, Map<string, number[]>>(), slotOf = (place: number) => `${index[place][0]} ${index[place][2]}`;
  index.forEach(([, family], place) => addPlace(slots, slotOf(place), family, place));
  return parallel.map((place) => draw(slots.get(slotOf(place)) ?? new Map(), random));
}

/** Random numbers that are the same in Python; lessons/random.py documents the generator. */
export class Random {
  state: number;

  /** ``seed``: a whole number from 0 to 2^32 - 1 */
  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A whole number from 0 to 2^32 - 1. */
  draw() {
    this.state = (this.state + INCREMENT) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), MULTIPLIERS[0]);
    mixed = Math.imul(mixed ^ (mixed >>> 13), MULTIPLIERS[1]);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  }

  /** A whole number from 0 to ``bound`` - 1, each equally likely. */
  below(bound: number) {
    let drawn = this.draw();
    while (drawn >= NUMBERS - (NUMBERS % bound)) drawn = this.draw();
    return drawn % bound;
  }

  /** The values in random order. */
  shuffled<T>(values: readonly T[]): T[] {
    const mixed = [...values];
    for (let last = mixed.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
    }
    return mixed;
  }
}
