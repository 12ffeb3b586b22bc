import assert from "node:assert/strict";
import { test } from "node:test";
import { excerptOf, hunksOf, wordsOf } from "./hunks.ts";

const words = Array.from({ length: 200 }, (_, index) => `o${index} `);

test("hunksOf() shows a change with a few unchanged words around it", () => {
  const runs = [
    { kind: "KEPT", count: 50, wordIndex: 0 },
    { kind: "REMOVED", count: 1, wordIndex: 50, text: "gamalt ", againstStartTime: "25.500s" },
    { kind: "ADDED", count: 1, wordIndex: 50, text: "nýtt", startTime: "25.400s" },
    { kind: "KEPT", count: 149, wordIndex: 51 },
  ] as const;
  const [hunk, ...more] = hunksOf(runs, words);
  assert.deepEqual(more, []);
  assert.equal(hunk?.at, 25.5);
  assert.deepEqual(
    hunk?.parts.map(({ kind, text }) => `${kind}: ${text}`),
    [
      "kept: o42 o43 o44 o45 o46 o47 o48 o49 ",
      "removed: gamalt ",
      "added: o50 ",
      "kept: o51 o52 o53 o54 o55 o56 o57 o58 ",
    ],
  );
});

test("hunksOf() puts nearby changes in one hunk, and distant ones in separate hunks", () => {
  const runs = [
    { kind: "ADDED", count: 1, wordIndex: 0, text: "a " },
    { kind: "KEPT", count: 20, wordIndex: 1 },
    {
      kind: "RETIMED",
      count: 1,
      wordIndex: 21,
      text: "b ",
      startTime: "3s",
      againstStartTime: "2s",
    },
    { kind: "KEPT", count: 21, wordIndex: 22 },
    { kind: "ADDED", count: 1, wordIndex: 43, text: "c " },
  ] as const;
  const hunks = hunksOf(runs, words);
  assert.deepEqual(
    hunks.map(({ parts }) => parts.map(({ kind, count }) => `${kind} ${count}`)),
    [
      ["added 1", "kept 20", "retimed 1", "kept 8"],
      ["kept 8", "added 1"],
    ],
  );
  assert.deepEqual(hunks[0]?.parts[2]?.moved, { from: 2, to: 3 });
});

test("hunksOf() includes every change, however many there are", () => {
  const runs = Array.from({ length: 1000 }, (_, index) => ({
    kind: index % 2 === 0 ? "ADDED" : "KEPT",
    count: 1,
    wordIndex: index % 200,
    text: `${index} `,
  })) satisfies readonly object[];
  const typed = runs.map(
    (run) => ({ ...run, kind: run.kind === "ADDED" ? "ADDED" : "KEPT" }) as const,
  );
  const hunks = hunksOf(typed, []);
  const changed = hunks.flatMap(({ parts }) => parts.filter(({ kind }) => kind === "added"));
  assert.deepEqual(
    changed.map(({ text }) => text),
    typed.filter(({ kind }) => kind === "ADDED").map(({ text }) => text),
  );
  assert.ok(hunks.every(({ parts }) => parts.length <= 62));
  assert.deepEqual(hunksOf([{ kind: "KEPT", count: 200, wordIndex: 0 }], words), []);
});

test("excerptOf() shortens only texts that are longer than the limit", () => {
  assert.equal(excerptOf("eitt tvö þrjú fjögur ", 3), "eitt tvö þrjú");
  assert.equal(excerptOf("eitt tvö þrjú ", 3), undefined);
  assert.equal(excerptOf("eitt tvö þrjú", 3), undefined);
  assert.equal(excerptOf("", 3), undefined);
});

test("wordsOf() adds a space after each word, even at the end of a segment", () => {
  const segment = { words: [{ word: "Góðan " }, { word: "daginn." }] };
  assert.deepEqual(wordsOf([segment, {}, segment]), ["Góðan ", "daginn. ", "Góðan ", "daginn. "]);
});
