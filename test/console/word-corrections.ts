/** A spoken word, the sentence that it belongs to, and who says it when. */
export interface SpokenWord {
  readonly text: string;
  readonly sentence: number;
  readonly voice: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Text that is replaced in a paragraph. Offsets are those of the text before any correction. */
export interface Correction {
  readonly paragraph: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** What turns the texts of paragraphs into a reference text. */
export interface Corrections {
  readonly corrections: readonly Correction[];
  /** The indexes of the words of the reference text that the paragraphs already have. */
  readonly kept: ReadonlySet<number>;
}

interface Token {
  readonly paragraph: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** A pair of a word in the text and a word of the reference text; one of them may be missing. */
interface Pair {
  readonly token: Token | undefined;
  readonly said: number | undefined;
  readonly isSame: boolean;
}

/**
 * Compares texts with what was said, by words. Only words that differ are corrected. A word that is
 * missing is inserted into the paragraph that has the rest of its sentence.
 */
export function correctionsOf(
  paragraphs: readonly string[],
  said: readonly SpokenWord[],
): Corrections {
  const tokens = paragraphs.flatMap((text, paragraph) =>
    [...text.matchAll(/\S+/g)].map(({ 0: word, index }): Token => ({
      paragraph,
      from: index,
      to: index + word.length,
      text: word.toLowerCase(),
    })),
  );
  const pairs = pairsOf(tokens, said);
  const kept = new Set(pairs.flatMap(({ said: at, isSame }) => (isSame ? [at ?? -1] : [])));
  const places = paragraphsOf(pairs, said);
  const corrections = paragraphs.flatMap((text, paragraph) => {
    const own = pairs.filter((_, at) => places[at] === paragraph);
    return hunksOf(own).map(({ before, hunk, after }) =>
      correction(text, { paragraph, before, hunk, after, said }),
    );
  });
  return { corrections, kept };
}

/** Pairs the words at the lowest cost. Similar words are paired rather than others. */
function pairsOf(tokens: readonly Token[], said: readonly SpokenWord[]): Pair[] {
  const columns = said.length + 1;
  const costs = new Float64Array((tokens.length + 1) * columns);
  const costAt = (i: number, j: number): number => costs[i * columns + j] ?? Infinity;
  const replacing = (i: number, j: number): number => {
    const [one, other] = [tokens[i]?.text, said[j]?.text];
    if (one === undefined || other === undefined) return Infinity;
    return one === other ? 0 : 0.6 + 0.8 * difference(one, other);
  };
  for (let i = tokens.length; i >= 0; i -= 1) {
    for (let j = said.length; j >= 0; j -= 1) {
      if (i === tokens.length && j === said.length) continue;
      costs[i * columns + j] = Math.min(
        i < tokens.length ? costAt(i + 1, j) + 1 : Infinity,
        j < said.length ? costAt(i, j + 1) + 1 : Infinity,
        i < tokens.length && j < said.length ? costAt(i + 1, j + 1) + replacing(i, j) : Infinity,
      );
    }
  }
  const pairs: Pair[] = [];
  for (let i = 0, j = 0; i < tokens.length || j < said.length;) {
    const cost = costAt(i, j);
    const isBoth = i < tokens.length && j < said.length;
    if (isBoth && cost === costAt(i + 1, j + 1) + replacing(i, j)) {
      pairs.push({ token: tokens[i], said: j, isSame: tokens[i]?.text === said[j]?.text });
      i += 1;
      j += 1;
    } else if (i < tokens.length && cost === costAt(i + 1, j) + 1) {
      pairs.push({ token: tokens[i], said: undefined, isSame: false });
      i += 1;
    } else {
      pairs.push({ token: undefined, said: j, isSame: false });
      j += 1;
    }
  }
  return pairs;
}

/** Returns how much two words differ, from 0 to 1, by the letters that they have in common. */
function difference(one: string, other: string): number {
  const rest = other.split("");
  const common = one.split("").filter((letter) => {
    const at = rest.indexOf(letter);
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  }).length;
  return 1 - common / Math.max(one.length, other.length);
}

/** Returns the paragraph of each pair. */
function paragraphsOf(pairs: readonly Pair[], said: readonly SpokenWord[]): number[] {
  const sentenceOf = ({ said: at }: Pair) => (at === undefined ? undefined : said[at]?.sentence);
  return pairs.map((pair, at) => {
    if (pair.token) return pair.token.paragraph;
    const before = pairs.slice(0, at).findLast(({ token }) => token);
    const after = pairs.slice(at).find(({ token }) => token);
    const isOfNext = before === undefined || sentenceOf(before) !== sentenceOf(pair);
    return ((isOfNext ? after : before) ?? before)?.token?.paragraph ?? 0;
  });
}

interface Hunk {
  readonly before: Token | undefined;
  readonly hunk: readonly Pair[];
  readonly after: Token | undefined;
}

/** Returns the runs of pairs that differ, with the words around them. */
function hunksOf(pairs: readonly Pair[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (let at = 0; at < pairs.length; at += 1) {
    if (pairs[at]?.isSame === true) continue;
    const same = pairs.findIndex((pair, index) => index > at && pair.isSame);
    const end = same === -1 ? pairs.length : same;
    const [before, after] = [pairs[at - 1]?.token, pairs[end]?.token];
    hunks.push({ before, hunk: pairs.slice(at, end), after });
    at = end;
  }
  return hunks;
}

function correction(
  text: string,
  {
    paragraph,
    before,
    hunk,
    after,
    said,
  }: Hunk & { readonly paragraph: number; readonly said: readonly SpokenWord[] },
): Correction {
  const removed = hunk.flatMap(({ token }) => token ?? []);
  const added = hunk.flatMap(({ said: at }) => (at === undefined ? [] : (said[at]?.text ?? [])));
  const [first, last] = [removed[0], removed.at(-1)];
  if (added.length === 0) {
    if (after) return { paragraph, from: first?.from ?? 0, to: after.from, text: "" };
    return { paragraph, from: before?.to ?? 0, to: last?.to ?? 0, text: "" };
  }
  const words = added.join(" ");
  if (first && last)
    return cheapest(text, { paragraph, from: first.from, to: last.to, text: words });
  if (before) return { paragraph, from: before.to, to: before.to, text: ` ${words}` };
  const at = after?.from ?? 0;
  return { paragraph, from: at, to: at, text: after ? `${words} ` : words };
}

/** Returns a correction of only the letters that differ, if that takes fewer keys. */
function cheapest(text: string, whole: Correction): Correction {
  const old = text.slice(whole.from, whole.to);
  const least = Math.min(old.length, whole.text.length);
  let start = 0;
  while (start < least && old[start] === whole.text[start]) start += 1;
  let end = 0;
  while (end < least - start && old.at(-1 - end) === whole.text.at(-1 - end)) end += 1;
  const part = {
    ...whole,
    from: whole.from + start,
    to: whole.to - end,
    text: whole.text.slice(start, whole.text.length - end),
  };
  return keysFor(old, whole, whole) <= keysFor(old, part, whole) ? whole : part;
}

/** Returns about how many keys a correction takes from the nearest edge of a word. */
function keysFor(old: string, part: Correction, whole: Correction): number {
  const [from, to] = [part.from - whole.from, part.to - whole.from];
  const edges = [
    0,
    old.length,
    ...[...old.matchAll(/ /g)].flatMap(({ index }) => [index, index + 1]),
  ];
  const steps = Math.min(...edges.map((edge) => Math.abs(edge - from)));
  const words = old.slice(from, to).split(" ").length;
  return steps + Math.min(words + 1, to - from) + part.text.length;
}
