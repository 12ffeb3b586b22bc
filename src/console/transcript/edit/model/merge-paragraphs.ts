import { paragraphEnd, paragraphWordsMax } from "../../../../std/paragraph-end.ts";
import { mappedSteps, stepWords } from "./align-tokens.ts";
import { paragraphsOf, type Base, type EditedParagraph } from "./base.ts";
import type { Side, SideToken } from "./merge-sides.ts";
import type { MergedToken, Sides } from "./merge-tokens.ts";
import type { Pin } from "./pin.ts";
import { movedPins, pinsWithin, withPins } from "./pins.ts";

/** Where a token is in the merged text. */
export interface PlacedToken {
  readonly paragraph: number;
  readonly from: number;
  readonly to: number;
}

interface MergedText {
  readonly paragraphs: readonly EditedParagraph[];
  readonly places: readonly PlacedToken[];
}

/** Makes paragraphs of tokens. Their runs are those of the new base, `theirs`. Yields often. */
export function* mergedParagraphsSteps(
  sides: Sides,
  tokens: readonly MergedToken[],
  theirs: Base,
): Generator<void, MergedText, void> {
  const begins = yield* beginsOf(sides, tokens, theirs);
  const edges = yield* runEdgesSteps(sides, { tokens, begins, count: theirs.words.length });
  const paragraphs: EditedParagraph[] = [];
  const places: PlacedToken[] = [];
  let text = "";
  let pins: Pin[] = [];
  const close = (to: number): void => {
    const last = paragraphs.at(-1);
    if (last) paragraphs[paragraphs.length - 1] = withPins({ ...last, text, to }, pins);
    text = "";
    pins = [];
  };
  for (const [at, token] of tokens.entries()) {
    if (at % stepWords === 0) yield;
    const kind = begins[at];
    const space = spaceBetween(sides, tokens[at - 1], token);
    // A paragraph that continues a segment must not take the space from the paragraph before it.
    if (kind !== "segment" && space !== "") text += space;
    if (kind) {
      const from = edges.get(at) ?? 0;
      close(from);
      paragraphs.push({
        text: "",
        speaker: token.speaker,
        from,
        to: from,
        isSoft: kind === "paragraph",
      });
    }
    places.push({
      paragraph: paragraphs.length - 1,
      from: text.length,
      to: text.length + token.text.length,
    });
    for (const pin of movedPins(ownPins(sides.mine, token), text.length)) pins.push(pin);
    text += token.text;
  }
  close(theirs.words.length);
  return { paragraphs, places };
}

/** Returns the pins of a word of mine. The space before it may be that of theirs. */
function ownPins({ tokens }: Side, token: MergedToken): readonly Pin[] {
  const own = tokens[token.mine];
  if (!own?.pins) return [];
  const by = leadOf(token.text) - leadOf(own.text);
  return pinsWithin(movedPins(own.pins, by), 0, token.text.length);
}

function leadOf(text: string): number {
  return text.length - text.trimStart().length;
}

/**
 * Returns a space if two words need one between them: if neither side has them next to each other.
 */
function spaceBetween(
  { mine, theirs }: Sides,
  before: MergedToken | undefined,
  token: MergedToken,
): "" | " " {
  if (!before || before.text === "" || token.text === "") return "";
  if (/\s$/.test(before.text) || /^\s/.test(token.text)) return "";
  const isNext = (side: Side, at: number, atBefore: number): boolean =>
    at >= 0 && atBefore >= 0 && at === atBefore + 1 && side.tokens[at]?.begins !== "segment";
  const isOne =
    isNext(mine, token.mine, before.mine) || isNext(theirs, token.theirs, before.theirs);
  return isOne ? "" : " ";
}

/** Decides for each token whether a segment or a paragraph begins with it. */
function* beginsOf(
  sides: Sides,
  tokens: readonly MergedToken[],
  theirs: Base,
): Generator<void, SideToken["begins"][], void> {
  const begins = yield* mappedSteps(tokens, ({ begins, speaker }, at) =>
    at === 0 || speaker !== tokens[at - 1]?.speaker ? "segment" : begins,
  );
  yield;
  const soft = new Set(paragraphsOf(theirs).flatMap(({ from, isSoft }) => (isSoft ? [from] : [])));
  for (let from = 0; from < tokens.length;) {
    yield;
    let to = from + 1;
    while (to < tokens.length && begins[to] !== "segment") to += 1;
    const group = tokens.slice(from, to);
    if (!isSideGroup(sides.mine, "mine", group)) {
      const isTheirs = isSideGroup(sides.theirs, "theirs", group);
      const starts = isTheirs
        ? group.map((token) => soft.has(token.theirs))
        : shortParagraphs(group);
      for (let at = 1; at < group.length; at += 1) {
        begins[from + at] = starts[at] === true ? "paragraph" : "";
      }
    }
    from = to;
  }
  return begins;
}

/** Whether tokens are a whole segment of a side. */
function isSideGroup(
  { tokens }: Side,
  name: "mine" | "theirs",
  group: readonly MergedToken[],
): boolean {
  const first = group[0]?.[name] ?? -1;
  if (first < 0 || tokens[first]?.begins !== "segment") return false;
  const next = tokens[first + group.length];
  if (next && next.begins !== "segment") return false;
  return group.every((token, at) => {
    const own = tokens[first + at];
    return (
      token[name] === first + at &&
      own?.text === token.text &&
      (at === 0 || own.begins !== "segment")
    );
  });
}

/** Returns the paragraphs of mine, or new ones if they have become too long. */
function shortParagraphs(group: readonly MergedToken[]): boolean[] {
  const starts = group.map(({ begins }, at) => at > 0 && begins === "paragraph");
  let words = 0;
  let longest = 0;
  for (const isStart of starts) {
    words = isStart ? 1 : words + 1;
    longest = Math.max(longest, words);
  }
  if (longest <= 2 * paragraphWordsMax) return starts;
  const fresh = starts.map(() => false);
  for (let at = 0; at < group.length;) {
    if (at > 0) fresh[at] = true;
    at = paragraphEnd(group.length, at, (index) => group[index]?.text ?? "");
  }
  return fresh;
}

/**
 * Returns the edge of the new base at which each paragraph's run begins. It is between the words of
 * the paragraphs before and after it; among removed words it is where mine is. Yields often.
 */
export function* runEdgesSteps(
  { mine, theirs }: Pick<Sides, "mine" | "theirs">,
  {
    tokens,
    begins,
    count,
  }: {
    readonly tokens: readonly Pick<MergedToken, "mine" | "theirs">[];
    readonly begins: readonly SideToken["begins"][];
    /** The number of words of the new base. */
    readonly count: number;
  },
): Generator<void, Map<number, number>, void> {
  const edgeOf = edgeMap(theirs, count);
  yield;
  const latest = new Int32Array(tokens.length);
  let next = count;
  for (let at = tokens.length - 1; at >= 0; at -= 1) {
    const place = tokens[at]?.theirs ?? -1;
    if (place >= 0) next = place;
    latest[at] = next;
    if (at % (8 * stepWords) === 0) yield;
  }
  const edges = new Map<number, number>();
  let earliest = 0;
  for (const [at, token] of tokens.entries()) {
    if (begins[at] !== "") {
      const own = mine.tokens[token.mine];
      const wanted = own && own.begins !== "" ? edgeOf[own.from] : Math.max(token.theirs, earliest);
      earliest = at === 0 ? 0 : Math.min(latest[at] ?? 0, Math.max(earliest, wanted ?? 0));
      edges.set(at, earliest);
    }
    if (token.theirs >= 0) earliest = token.theirs + 1;
    if (at % (8 * stepWords) === 0) yield;
  }
  return edges;
}

/** Returns for each edge between words of the base the edge in a version. */
export function edgeMap({ places }: Pick<Side, "places">, count: number): Int32Array {
  const edges = new Int32Array(places.length + 1);
  let edge = 0;
  for (let word = 0; word < places.length; word += 1) {
    const place = places[word] ?? -1;
    edges[word] = place >= 0 ? place : edge;
    if (place >= 0) edge = place + 1;
  }
  edges[places.length] = count;
  return edges;
}
