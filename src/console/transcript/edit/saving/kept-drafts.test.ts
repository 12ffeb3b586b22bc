import assert from "node:assert/strict";
import { test } from "node:test";
import {
  includes,
  type KeptDraft,
  type KeptDrafts,
  mergedDrafts,
  readKeptDrafts,
} from "./kept-drafts.ts";

function draft(text: string, changedAt: number): KeptDraft {
  return { draft: text, speakers: {}, savedVersion: "v1", changedAt, by: "" };
}

function kept(
  text: string | undefined,
  history: KeptDrafts["history"],
  others: KeptDraft[] = [],
): KeptDrafts {
  const changedAt = Math.max(...Object.values(history));
  return { current: text === undefined ? undefined : draft(text, changedAt), others, history };
}

test("mergedDrafts() takes the drafts that have all changes of the others", () => {
  const before = kept("a", { one: 3 });
  const rows: [after: KeptDrafts, why: string][] = [
    [kept("b", { one: 4 }), "the same page has changed them"],
    [kept("b", { one: 3, two: 1 }), "another page has continued with them"],
    [kept(undefined, { one: 4 }), "they were saved or discarded"],
  ];
  for (const [after, why] of rows) {
    assert.ok(includes(after, before) && !includes(before, after), why);
    assert.equal(mergedDrafts(before, after), after, why);
    assert.equal(mergedDrafts(after, before), after, why);
  }
});

test("mergedDrafts() loses none of the drafts that were written apart", () => {
  const one = kept("a", { one: 4, before: 1 });
  const other = kept("b", { two: 7, before: 1 }, [draft("c", 2)]);
  for (const merged of [mergedDrafts(one, other), mergedDrafts(other, one)]) {
    assert.equal(merged.current?.draft, "b", "the later one is current");
    assert.deepEqual(merged.others.map((waiting) => waiting.draft).toSorted(), ["a", "c"]);
    assert.deepEqual(merged.history, { one: 4, two: 7, before: 1 });
  }
  const saved = kept(undefined, { two: 5 });
  assert.equal(mergedDrafts(saved, one).current?.draft, "a", "what was not saved stays current");
  const same = mergedDrafts(kept("a", { one: 1 }), kept("a", { two: 1 }));
  assert.deepEqual(same.others, [], "the same draft is kept once");
});

test("readKeptDrafts() reads what was written, and drafts of earlier versions, and nothing damaged", () => {
  const drafts = kept("a", { one: 4 }, [draft("b", 3)]);
  assert.deepEqual(readKeptDrafts(JSON.parse(JSON.stringify(drafts))), drafts);
  const saved = kept(undefined, { one: 4 }, [draft("b", 3)]);
  assert.deepEqual(readKeptDrafts(JSON.parse(JSON.stringify(saved))), saved);
  const early = readKeptDrafts(draft("a", 9));
  assert.deepEqual(early?.current, draft("a", 9));
  assert.ok(early && !includes(drafts, early), "an early draft counts as written apart");
  const damaged: unknown[] = [
    undefined,
    null,
    "a",
    [],
    {},
    { draft: "a" },
    { ...drafts, current: { draft: "a" } },
    { ...drafts, others: [{}] },
    { ...drafts, others: "a" },
    { ...drafts, history: { one: "4" } },
    { ...drafts, current: { ...draft("a", 1), speakers: null } },
  ];
  for (const value of damaged) {
    assert.equal(readKeptDrafts(value), undefined, JSON.stringify(value));
  }
});
