import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { espeak, joined, silence } from "../../../test/fixtures/flite.ts";
import {
  starterFolder,
  streamingCard,
  wholeCard,
  wholeFolder,
} from "../../../test/fixtures/sherpa-models.ts";
import type { Engine, RecognitionMode } from "../protocol/engine.ts";
import { EngineSession } from "../process/engine-session.ts";
import type { Recognition } from "../protocol/recognizer.ts";
import { openSherpaEngine } from "./sherpa-engine.ts";

/** Returns the results of a session for this recording, which is sent in one chunk. */
async function recognizeAll(engine: Engine, mode: RecognitionMode, recording: Int16Array) {
  const finals: Recognition[] = [];
  const interims: string[] = [];
  const progress = { isDone: false };
  const session = new EngineSession(
    engine,
    {
      languageCode: "is-IS",
      mode,
      sampleRateHertz: 16_000,
      alternativesMax: 1,
      interim: mode === "live",
      silenceMsMin: 500,
      punctuation: true,
    },
    {
      interim: ({ alternatives }) => interims.push(alternatives[0]?.text ?? ""),
      committed: ({ final }) => finals.push(...(final ? [final] : [])),
      progress() {},
      received() {},
      done: () => (progress.isDone = true),
    },
  );
  for (let at = 0; at < recording.length; at += 1600) {
    session.push(recording.subarray(at, at + 1600));
  }
  session.endInput();
  while (!progress.isDone) await (session.step() || turn());
  session.close();
  return { finals, interims };
}

test("parallel sessions each return only their own words, with their own times", async () => {
  const [greeting, weather] = [espeak("góðan daginn"), espeak("veðrið er gott í dag")];
  const pause = silence(1500);
  const recordings = [
    joined(pause, greeting, pause, weather, pause),
    joined(silence(700), weather),
  ];
  const expected = [["góðan daginn", "veðrið er gott í dag"], ["veðrið er gott í dag"]];
  for (const [card, folder] of [
    [streamingCard, starterFolder],
    [wholeCard, wholeFolder],
  ] as const) {
    const engine = await openSherpaEngine(card, folder);
    for (const mode of ["live", "job"] as const) {
      const all = await Promise.all(
        recordings.map((samples) => recognizeAll(engine, mode, samples)),
      );
      const texts = all.map(({ finals }) => finals.map((final) => final.alternatives[0]?.text));
      assert.deepEqual(texts, expected, `${card.name}, ${mode}`);
      assert.equal(
        all.every(({ interims }) => interims.some((text) => text.startsWith("veðrið er"))),
        mode === "live",
      );
      const second = all[0]?.finals[1]?.alternatives[0]?.words[0]?.startMs ?? 0;
      const saidMs = (2 * pause.length + greeting.length) / 16;
      assert.ok(Math.abs(second - saidMs) < 250, `${second} ms, said at ${saidMs} ms`);
    }
    engine.close();
  }
});
