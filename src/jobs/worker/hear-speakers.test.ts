import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { WindowSpeakers } from "../../engines/protocol/recognizer.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import type { Piece } from "./cut-pieces.ts";
import {
  SpeakerListener,
  type SpeakerListenerOptions,
  type StoredWindow,
} from "./hear-speakers.ts";

const pieceMs = 25_000;
const samplesPerMs = 16;

/** Pieces of a recording in which a sample says which piece it is of. */
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
 * Two who take turns: the first is like (1, 0), the second like (0, 1). Their numbers change from
 * window to window.
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

function listen(changes: Partial<SpeakerListenerOptions> = {}) {
  const heard: number[] = [];
  const kept = new Map<number, StoredWindow>();
  const listener = new SpeakerListener({
    recognizer: {
      diarize(window) {
        heard.push(window[0] ?? NaN);
        return Promise.resolve(speakersOf(window));
      },
    },
    known: new Map(),
    keep(index, window) {
      kept.set(index, window);
      return Promise.resolve();
    },
    signal: new AbortController().signal,
    retryMs: 1,
    log: createLog("silent"),
    ...changes,
  });
  return { listener, heard, kept };
}

async function hearAll(listener: SpeakerListener, count: number) {
  for (const piece of pieces(count)) await listener.take(piece);
  return await listener.end();
}

test("SpeakerListener knows a voice again in every window", async () => {
  const { listener, heard, kept } = listen();
  const spans = await hearAll(listener, 30);
  assert.deepEqual(heard, [1, 13, 25], "windows of 5 minutes, and what is left");
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

test("SpeakerListener goes on from what an earlier try has kept", async () => {
  const whole = listen();
  const expected = await hearAll(whole.listener, 30);
  const known = new Map([...whole.kept].slice(0, 2));
  const again = listen({ known });
  assert.deepEqual(await hearAll(again.listener, 30), expected);
  assert.deepEqual(again.heard, [25]);
  const [first] = whole.kept.values();
  assert.ok(first);
  // Of another recording, or cut otherwise: it is heard anew.
  const other = listen({ known: new Map([[0, { ...first, endMs: first.endMs + 1 }]]) });
  assert.deepEqual(await hearAll(other.listener, 30), expected);
  assert.deepEqual(other.heard, [1, 13, 25]);
});

test("SpeakerListener asks again when a process is lost, and gives up the speakers, not the job", async () => {
  const lost = new ServiceError("unavailable", "the process was lost");
  const rows: [failures: number, error: Error, tries: number, spans: number][] = [
    [2, lost, 3, 2],
    [3, lost, 3, 0],
    [1, new TypeError("a bug"), 1, 0],
  ];
  for (const [failures, error, tries, spans] of rows) {
    let count = 0;
    const { listener } = listen({
      recognizer: {
        diarize(window) {
          count += 1;
          return count <= failures ? Promise.reject(error) : Promise.resolve(speakersOf(window));
        },
      },
    });
    assert.equal((await hearAll(listener, 3)).length, spans);
    assert.equal(count, tries);
  }
});

test("SpeakerListener ends with its signal", async () => {
  const controller = new AbortController();
  const { listener } = listen({
    signal: controller.signal,
    recognizer: {
      diarize: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    },
  });
  for (const piece of pieces(12)) await listener.take(piece);
  const ending = listener.end();
  controller.abort();
  assert.deepEqual(await ending, []);
});

test("a listener that is disposed of ends what it hears, keeps nothing and names nobody", async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  const { listener, kept } = listen({
    recognizer: {
      async diarize(_window, signal) {
        asked.resolve(signal);
        await once(signal, "abort");
        throw signal.reason;
      },
    },
  });
  for (const piece of pieces(12)) await listener.take(piece);
  const signal = await asked.promise;
  listener[Symbol.dispose]();
  assert.ok(signal.aborted);
  assert.deepEqual(await listener.end(), []);
  assert.equal(kept.size, 0);
});
