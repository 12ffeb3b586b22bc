/** A turn of one speaker within a window. Speakers are numbered within each window. */
export interface SpeakerTurn {
  readonly speaker: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** A voice in a window. */
export interface WindowSpeaker {
  readonly speaker: number;
  /** The embedding of the voice. Similar voices have a small angle between their embeddings. */
  readonly embedding: Float32Array;
  /** The seconds of speech from which the embedding was computed. */
  readonly seconds: number;
}

/** Who spoke when in some minutes of a recording. */
export interface SpeakerWindow {
  /** The start of the window, from which the times of its turns count. */
  readonly startMs: number;
  readonly turns: readonly SpeakerTurn[];
  /** The speakers with enough speech for an embedding. */
  readonly speakers: readonly WindowSpeaker[];
}

/**
 * A turn of one speaker of a recording. Speakers are named "1", "2", ... in the order of their
 * first turns.
 */
export interface RecordingTurn {
  readonly speaker: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface JoinOptions {
  /** The minimum cosine similarity of two voices of the same person. */
  readonly likenessMin?: number;
  readonly speakersMax?: number;
}

/** A typical cosine similarity of two embeddings of one person, with the existing models. */
const likenessMinDefault = 0.5;
/** The maximum pause of one speaker that does not end a turn, since windows may end anywhere. */
const pauseMsMax = 200;

/**
 * Matches the voices of all windows (agglomerative clustering): repeatedly joins the two most
 * similar voices. Two voices of one window are never joined unless there would otherwise be more
 * than speakersMax speakers. Leaves out turns without an embedding.
 */
export function joinSpeakers(
  windows: readonly SpeakerWindow[],
  { likenessMin = likenessMinDefault, speakersMax = Infinity }: JoinOptions = {},
): readonly RecordingTurn[] {
  const people = windows
    .flatMap(({ speakers }, window) =>
      speakers.map((voice) => ({ windows: new Set([window]), voices: new Set([voice]) })),
    )
    .map((person, id): Person => ({ ...person, id }));
  const voices = people.flatMap((person) => [...person.voices]);
  const products = productsOf(voices.map(directionOf));
  const alike = joinAlike(people, products, { likenessMin, countMin: 1 });
  const few = joinAlike(alike, products, { likenessMin: -Infinity, countMin: speakersMax });
  const limits = { likenessMin: -Infinity, countMin: speakersMax, alsoOfOneWindow: true };
  return namedTurns(windows, joinAlike(few, products, limits));
}

/** The voices that are considered to belong to one person. */
interface Person {
  /** The person's index in the products. */
  readonly id: number;
  readonly windows: ReadonlySet<number>;
  readonly voices: ReadonlySet<WindowSpeaker>;
}

/**
 * The dot products of the directions of every two people. A direction is the sum of the embeddings
 * of a person's voices, weighted by their seconds. The dot product of sums is the sum of dot
 * products, so the products are computed once and added when people are joined.
 */
type Products = readonly Float64Array[];

interface JoinLimits {
  readonly likenessMin: number;
  /** The number of people at which joining ends. */
  readonly countMin: number;
  readonly alsoOfOneWindow?: boolean;
}

function directionOf({ embedding, seconds }: WindowSpeaker): Float64Array {
  const scale = seconds / (Math.hypot(...embedding) || 1);
  return Float64Array.from(embedding, (value) => value * scale);
}

function productsOf(directions: readonly Float64Array[]): Products {
  const products = directions.map(() => new Float64Array(directions.length));
  for (const [at, one] of directions.entries()) {
    for (let otherAt = 0; otherAt <= at; otherAt++) {
      const other = directions[otherAt] ?? one;
      let product = 0;
      for (let index = 0; index < one.length; index++) {
        product += (one[index] ?? 0) * (other[index] ?? 0);
      }
      for (const [row, column] of [
        [at, otherAt],
        [otherAt, at],
      ] as const) {
        const values = products[row];
        if (values) values[column] = product;
      }
    }
  }
  return products;
}

/**
 * Joins similar people. Stores the nearest neighbor of each person, so that finding the next two
 * takes time in proportion to the number of people, not of pairs.
 */
function joinAlike(
  people: readonly Person[],
  products: Products,
  limits: JoinLimits,
): readonly Person[] {
  const left = new Map(people.map((person) => [person.id, person]));
  const search = (person: Person) => mostAlike(person, left.values(), products, limits);
  const nearest = new Map(people.map((person) => [person.id, search(person)]));
  while (left.size > limits.countMin) {
    let [firstId, first] = [-1, noOne];
    for (const [id, each] of nearest) {
      if (each.likeness > first.likeness) [firstId, first] = [id, each];
    }
    const [person, other] = [left.get(firstId), left.get(first.id)];
    if (!person || !other || first.likeness < limits.likenessMin) break;
    const both = joinedPerson(person, other, products);
    left.set(both.id, both);
    left.delete(other.id);
    nearest.delete(other.id);
    for (const third of left.values()) {
      const known = nearest.get(third.id) ?? noOne;
      const isGone = third.id === both.id || known.id === both.id || known.id === other.id;
      const now = isGone ? search(third) : mostAlike(third, [both], products, limits);
      if (isGone || now.likeness > known.likeness) nearest.set(third.id, now);
    }
  }
  return [...left.values()];
}

interface Nearest {
  readonly id: number;
  readonly likeness: number;
}

const noOne: Nearest = { id: -1, likeness: -Infinity };

/**
 * Returns the most similar other person, by cosine similarity. People that cannot be joined are
 * skipped.
 */
function mostAlike(
  person: Person,
  others: Iterable<Person>,
  products: Products,
  { alsoOfOneWindow = false }: JoinLimits,
): Nearest {
  let [bestId, best] = [-1, -Infinity];
  const row = products[person.id];
  const square = row?.[person.id] ?? 0;
  for (const other of others) {
    if (other.id === person.id) continue;
    const otherSquare = products[other.id]?.[other.id] ?? 0;
    const likeness = (row?.[other.id] ?? 0) / (Math.sqrt(square * otherSquare) || 1);
    if (likeness <= best) continue;
    if (!alsoOfOneWindow && !person.windows.isDisjointFrom(other.windows)) continue;
    [bestId, best] = [other.id, likeness];
  }
  return { id: bestId, likeness: best };
}

/** Joins `other` into `one`. */
function joinedPerson(one: Person, other: Person, products: Products): Person {
  const [row, otherRow] = [products[one.id], products[other.id]];
  if (row && otherRow) row.set(row.map((value, at) => value + (otherRow[at] ?? 0)));
  for (const each of products) {
    each[one.id] = (each[one.id] ?? 0) + (each[other.id] ?? 0);
  }
  return {
    id: one.id,
    windows: one.windows.union(other.windows),
    voices: one.voices.union(other.voices),
  };
}

function namedTurns(
  windows: readonly SpeakerWindow[],
  people: readonly Person[],
): readonly RecordingTurn[] {
  const personByVoice = new Map(
    people.flatMap((person) => Array.from(person.voices, (voice) => [voice, person] as const)),
  );
  const turns = windows
    .flatMap(({ startMs, turns, speakers }) =>
      turns.flatMap((turn) => {
        const voice = speakers.find(({ speaker }) => speaker === turn.speaker);
        const person = voice && personByVoice.get(voice);
        if (!person) return [];
        return [{ person, startMs: startMs + turn.startMs, endMs: startMs + turn.endMs }];
      }),
    )
    .toSorted((one, other) => one.startMs - other.startMs || one.endMs - other.endMs);
  const names = new Map<Person, string>();
  const named: RecordingTurn[] = [];
  const lastOf = new Map<string, number>();
  for (const { person, startMs, endMs } of turns) {
    const speaker = names.get(person) ?? String(names.size + 1);
    names.set(person, speaker);
    const last = lastOf.get(speaker);
    const before = last === undefined ? undefined : named[last];
    if (last !== undefined && before && startMs - before.endMs <= pauseMsMax) {
      named[last] = { ...before, endMs: Math.max(before.endMs, endMs) };
      continue;
    }
    lastOf.set(speaker, named.length);
    named.push({ speaker, startMs, endMs });
  }
  return named;
}
