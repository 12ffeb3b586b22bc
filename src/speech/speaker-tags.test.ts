import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordingTurn } from "../engines/protocol/speakers.ts";
import { findSpeakers, speakerTags } from "./speaker-tags.ts";

const turns: readonly RecordingTurn[] = [
  { speaker: "1", startMs: 1000, endMs: 3000 },
  { speaker: "2", startMs: 3200, endMs: 5000 },
];
const wordsAt = (...middles: readonly number[]) =>
  middles.map((ms) => ({ text: "a", startMs: ms - 50, endMs: ms + 50 }));

test("speakerTags() gives each word the speaker of the nearest turn", () => {
  const rows: readonly [middles: readonly number[], tags: readonly number[]][] = [
    [[], []],
    [
      [1500, 2900, 3300, 4900],
      [1, 1, 2, 2],
    ],
    // Before the first turn, between turns, and after the last one.
    [
      [200, 3150, 5900],
      [1, 2, 2],
    ],
    // Too far from any turn: as the word before, or else as the word after.
    [[60_000], [0]],
    [
      [1500, 60_000],
      [1, 1],
    ],
  ];
  for (const [middles, tags] of rows) {
    assert.deepEqual(speakerTags(wordsAt(...middles), turns), tags, middles.join());
  }
  assert.deepEqual(speakerTags(wordsAt(1500), []), [0]);
});

test("findSpeakers() diarizes at 16 kHz, and joins the most similar voices above the maximum", async () => {
  const embeddings = [
    [1, 0, 0],
    [0.2, 1, 0],
    [0.8, 0.1, 0.1],
  ];
  const lengths: number[] = [];
  const recognizer = {
    diarize(window: Int16Array) {
      lengths.push(window.length);
      const speakers = embeddings.map((embedding, speaker) => ({ speaker, embedding, seconds: 2 }));
      const found = speakers.map(({ speaker }) => {
        return { speaker, startMs: speaker * 2000, endMs: speaker * 2000 + 1500 };
      });
      return Promise.resolve({ turns: found, speakers });
    },
  };
  const { signal } = new AbortController();
  for (const [speakersMax, names] of [
    [20, ["1", "2", "3"]],
    [2, ["1", "2", "1"]],
    [1, ["1", "1", "1"]],
  ] as const) {
    const options = { recognizer, sampleRateHertz: 8000, speakersMax, signal };
    const found = await findSpeakers(new Int16Array(48_000), options);
    assert.deepEqual(
      found.map(({ speaker }) => speaker),
      names,
    );
  }
  assert.deepEqual(lengths, [96_000, 96_000, 96_000]);
});
