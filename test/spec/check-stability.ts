import assert from "node:assert/strict";

/** The parts of an interim result that gRPC and JSON have in common. */
interface InterimResult {
  readonly alternatives?: readonly { readonly transcript?: string | null }[] | null;
  readonly isFinal?: boolean | null;
  readonly stability?: number | null;
}

/**
 * Checks the stability of interim results: the share of words before the first that differs from
 * the previous result.
 */
export function checkStability(results: readonly InterimResult[]): void {
  let before: string[] = [];
  const seen = new Set<number>();
  for (const { alternatives, isFinal, stability } of results) {
    const words = alternatives?.[0]?.transcript?.split(" ") ?? [];
    const changed = words.findIndex((word, at) => word !== before[at]);
    const stood = changed < 0 ? words.length : changed;
    const expected = isFinal === true ? 0 : Math.fround(stood / words.length);
    assert.equal(Math.fround(stability ?? 0), expected, words.join(" "));
    seen.add(expected);
    before = isFinal === true ? [] : words;
  }
  assert.ok(seen.size > 2, "some words stayed and some changed");
}
