import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { pino } from "pino";
import type { WindowSpeakers } from "../../engines/protocol/recognizer.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import type { Piece } from "./cut-pieces.ts";
import {
  SpeakerDetector,
  type SpeakerDetectorOptions,
  type StoredWindow,
} from "./detect-speakers.ts";

const pieceMs = 25_000;
const samplesPerMs = 16;

/** Yields pieces of a recording in which each sample is the number of its piece. */
function* pieces(count: number): Generator<Piece> {
  for (let index = 0; index < count; index++) {
    yield {
      index,
      startMs: index * pieceMs,
      endMs: (index + 1) * pieceMs,
      samples: new Int16Array(pieceMs * samplesPerMs).fill(index + 1),
    };
  }
}

/**
 * Returns two speakers who take turns: the first voice is similar to (1, 0), the second to (0, 1).
 * Their numbers change from window to window.
 */
function speakersOf(window: Int16Array): WindowSpeakers {
  const isTurned = (window[0] ?? 0) % 2 === 0;
  const half = window.length / samplesPerMs / 2;
  const voices = isTurned
    ? [
        [0, 1],
        [1, 0],
      ]
    : [
        [1, 0],
        [0, 1],
      ];
  const first = isTurned ? 1 : 0;
  return {
    turns: [
      { speaker: first, startMs: 0, endMs: half },
      { speaker: 1 - first, startMs: half, endMs: 2 * half },
    ],
    speakers: voices.map((embedding, speaker) => ({ speaker, embedding, seconds: half / 1000 })),
  };
}

function openDetector(changes: Partial<SpeakerDetectorOptions> = {}) {
  const diarized: number[] = [];
  const kept = new Map<number, StoredWindow>();
  const detector = new SpeakerDetector({
    recognizer: {
      diarize(window) {
        diarized.push(window[0] ?? NaN);
        return Promise.resolve(speakersOf(window));
      },
    },
    known: new Map(),
    keep(index, window) {
      kept.set(index, window);
      return Promise.resolve();
    },
    signal: new AbortController().signal,
    log: createLog("silent"),
    ...changes,
  });
  return { detector, diarized, kept };
}

async function detectAll(detector: SpeakerDetector, count: number) {
  for (const piece of pieces(count)) await detector.take(piece);
  return await detector.end();
}

test("SpeakerDetector recognizes a voice in every window", async () => {
  const { detector, diarized, kept } = openDetector();
  const spans = await detectAll(detector, 30);
  assert.deepEqual(diarized, [1, 13, 25], "windows of 5 minutes, and what is left");
  assert.deepEqual(
    spans.map(({ speakerId, startMs, endMs }) => [speakerId, startMs / 1000, endMs / 1000]),
    [
      ["1", 0, 150],
      ["2", 150, 300],
      ["1", 300, 450],
      ["2", 450, 600],
      ["1", 600, 675],
      ["2", 675, 750],
    ],
  );
  assert.deepEqual([...kept.keys()], [0, 1, 2]);
});

test("SpeakerDetector finds at most speakersMax speakers", async () => {
  const { detector } = openDetector({ speakersMax: 1 });
  const spans = await detectAll(detector, 30);
  assert.deepEqual([...new Set(spans.map(({ speakerId }) => speakerId))], ["1"]);
  assert.equal(spans.at(-1)?.endMs, 750_000);
});

test("SpeakerDetector continues from checkpoints of an earlier attempt", async () => {
  const whole = openDetector();
  const expected = await detectAll(whole.detector, 30);
  const known = new Map([...whole.kept].slice(0, 2));
  const again = openDetector({ known });
  assert.deepEqual(await detectAll(again.detector, 30), expected);
  assert.deepEqual(again.diarized, [25]);
  const [first] = whole.kept.values();
  assert.ok(first);
  // A checkpoint of another recording, or with other cuts, is not used.
  const other = openDetector({ known: new Map([[0, { ...first, endMs: first.endMs + 1 }]]) });
  assert.deepEqual(await detectAll(other.detector, 30), expected);
  assert.deepEqual(other.diarized, [1, 13, 25]);
});

test("SpeakerDetector gives up on audio that breaks the diarizer, and lets the job wait for one that is missing", async () => {
  const log = pino({ messageKey: "event" }, { write: (line: string) => void lines.push(line) });
  const lines: string[] = [];
  const crashes = new ServiceError("internal", "the speech engine failed", {
    reason: "ENGINE_FAILED",
  });
  for (const error of [crashes, new Error("in the engine process: it broke")]) {
    const recognizer = { diarize: () => Promise.reject(error) };
    const { detector, kept } = openDetector({ recognizer, log });
    assert.deepEqual(await detectAll(detector, 30), []);
    assert.equal(kept.size, 0);
    assert.match(lines.splice(0).join(), /^[^\n]*job\.speakers_failed[^\n]*\n$/);
  }
  const missing = new ServiceError("unavailable", "no process is ready", { reason: "NO_ENGINE" });
  let count = 0;
  const { detector, kept } = openDetector({
    log,
    recognizer: {
      diarize(window) {
        count += 1;
        return count === 2 ? Promise.reject(missing) : Promise.resolve(speakersOf(window));
      },
    },
  });
  // The words of all pieces are recognized before the job has to wait.
  for (const piece of pieces(30)) await detector.take(piece);
  await assert.rejects(detector.end(), missing);
  assert.deepEqual([count, [...kept.keys()], lines], [2, [0], []]);
});

test("SpeakerDetector ends when its signal aborts", async () => {
  const controller = new AbortController();
  const { detector } = openDetector({
    signal: controller.signal,
    recognizer: {
      diarize: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    },
  });
  for (const piece of pieces(12)) await detector.take(piece);
  const ending = detector.end();
  controller.abort();
  assert.deepEqual(await ending, []);
});

test("a SpeakerDetector that is disposed of stops, keeps no windows and returns no speakers", async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  const { detector, kept } = openDetector({
    recognizer: {
      async diarize(_window, signal) {
        asked.resolve(signal);
        await once(signal, "abort");
        throw signal.reason;
      },
    },
  });
  for (const piece of pieces(12)) await detector.take(piece);
  const signal = await asked.promise;
  detector[Symbol.dispose]();
  assert.ok(signal.aborted);
  assert.deepEqual(await detector.end(), []);
  assert.equal(kept.size, 0);
});
