import assert from "node:assert/strict";
import { test } from "node:test";
import { shownLast, transcriptLock } from "./transcript-locks.ts";

test("the transcripts that were shown last are chosen, each once, and only those of the owner", () => {
  const locks = [
    transcriptLock("a", "transcripts/1", 100),
    transcriptLock("a", "transcripts/2", 300),
    transcriptLock("b", "transcripts/3", 900),
    transcriptLock("a", "transcripts/4", 200),
    transcriptLock("a", "transcripts/1", 1_000),
    transcriptLock("a", "transcripts/2", 50),
    "hlust.account a",
  ];
  const [one, two, four] = ["transcripts/1", "transcripts/2", "transcripts/4"];
  assert.deepEqual(shownLast(locks, "a", 20), [one, two, four]);
  assert.deepEqual(shownLast(locks, "a", 2), [one, two]);
  assert.deepEqual(shownLast(locks, "c", 2), []);
});
