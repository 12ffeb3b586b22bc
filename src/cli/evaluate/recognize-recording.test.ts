import assert from "node:assert/strict";
import { test } from "node:test";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import { recognizeRecording } from "./recognize-recording.ts";

test("a final result without word times has no latency, and is counted", async () => {
  const words = [{ text: "yes", startMs: 100, endMs: 150 }];
  const recognizer: Pick<Recognizer, "recognize"> = {
    async *recognize(input) {
      for await (const _ of input);
      yield { isFinal: true, alternatives: [{ text: "yes", words }], audioEndMs: 150 };
      yield { isFinal: true, alternatives: [{ text: "it is", words: [] }], audioEndMs: 200 };
    },
  };
  const found = await recognizeRecording(recognizer, new Int16Array(3_200), {
    languageCode: "en-US",
    mode: "live",
    isPaced: true,
  });
  assert.deepEqual(
    found.words.map(({ text }) => text),
    ["yes", "it", "is"],
  );
  assert.equal(found.finalMs.length, 1);
  assert.ok((found.finalMs[0] ?? 0) >= 50);
  assert.equal(found.untimedFinals, 1);
});
