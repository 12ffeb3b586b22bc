import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import { joined, silence } from "../fixtures/flite.ts";
import {
  finalsOf,
  openStream,
  secondsOf,
  type StreamMessage,
  streamingConfig,
} from "../spec/stream.ts";
import type { ServiceProcess } from "./process.ts";

const chunkMs = 100;

/** When a final result arrived, and how long after the end of its last word was sent. */
export interface FinalDelay {
  readonly atMs: number;
  readonly delayMs: number;
}

type Target = Pick<ServiceProcess, "address" | "key">;
export type Final = ReturnType<typeof finalsOf>[number];

/** Sends chunks in real time until the signal aborts, and returns the finals and the chunks. */
export async function stream(
  api: Target,
  chunks: readonly Int16Array[],
  ended: AbortSignal,
  delays: FinalDelay[] = [],
): Promise<{ readonly finals: readonly Final[]; readonly sent: number }> {
  const part = await streamPart(api, chunks, ended, delays);
  assert.equal(part.code, 1000, JSON.stringify(part.last));
  return part;
}

/** The same, for a stream that may be closed with another code or without one. */
export async function streamPart(
  api: Target,
  chunks: readonly Int16Array[],
  ended: AbortSignal,
  delays: FinalDelay[] = [],
) {
  const onMessage = (message: StreamMessage) => {
    const atMs = performance.now();
    for (const { words = [] } of finalsOf([message])) {
      const wordMs = 1_000 * secondsOf(words.at(-1)?.endTime ?? "");
      delays.push({ atMs, delayMs: atMs - (startMs + wordMs) });
    }
  };
  let startMs = performance.now();
  const open = await openStream(api.address, { token: api.key, onMessage });
  const closed = { isSo: false };
  void open.closed.then(() => (closed.isSo = true));
  open.send(streamingConfig({ enableWordTimeOffsets: true }));
  startMs = performance.now();
  let sent = 0;
  for (const chunk of chunks) {
    if (ended.aborted || closed.isSo) break;
    const dueMs = startMs + sent * chunkMs - performance.now();
    if (dueMs > 1) await delay(dueMs);
    open.sendAudio(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), 3_200);
    sent += 1;
  }
  if (!closed.isSo) open.send({ audioContent: "" });
  const code = await open.closed;
  return { finals: finalsOf(open.messages), sent, code, last: open.messages.at(-1) };
}

/** Returns the chunks of ten minutes of speech and pauses, which differ from stream to stream. */
export function chunksOf(index: number): readonly Int16Array[] {
  const parts = Array.from({ length: 300 }, (_, part) =>
    joined(speech(700 + 130 * ((index + part) % 9)), silence(300 + 110 * ((part * 3 + index) % 7))),
  );
  const samples = joined(...parts);
  const length = chunkMs * 16;
  const count = Math.floor(samples.length / length);
  return Array.from({ length: count }, (_, at) => samples.subarray(at * length, (at + 1) * length));
}

/** Returns the finals of that many chunks of a stream to which nothing happens. */
export async function quietFinals(api: Target, index: number, sent: number) {
  const never = new AbortController().signal;
  const chunks = chunksOf(index).slice(0, sent);
  return (await stream(api, [joined(...chunks)], never)).finals;
}

/**
 * A caller that continues on the next node when its stream ends too early, with everything after
 * the last final result. Its finals have the times of the whole recording.
 */
export class StreamCaller {
  /** The finals of all streams that have ended. */
  readonly finals: Final[] = [];
  /** Has an entry for each final, also of the stream that goes on. */
  readonly delays: FinalDelay[] = [];
  /** How often it has begun again. */
  again = 0;
  readonly #chunks: readonly Int16Array[];
  readonly #nextTarget: () => Target;

  constructor(index: number, nextTarget: () => Target) {
    this.#chunks = chunksOf(index);
    this.#nextTarget = nextTarget;
  }

  /** Speaks until the signal aborts. Returns the number of chunks. */
  async speak(ended: AbortSignal): Promise<number> {
    for (let from = 0; ; this.again += 1) {
      const chunks = this.#chunks.slice(from);
      const part = await streamPart(this.#nextTarget(), chunks, ended, this.delays).catch(
        (error: unknown) => ({ finals: [], sent: 0, code: 0, last: error }),
      );
      for (const final of part.finals) this.finals.push(movedBy(final, from * chunkMs));
      if (part.code === 1000) return from + part.sent;
      assert.ok(this.again < 50, JSON.stringify(part.last));
      // The last word ends within a chunk of which the rest is a pause.
      const endMs = 1_000 * secondsOf(this.finals.at(-1)?.words?.at(-1)?.endTime ?? "0s");
      from = Math.ceil(endMs / chunkMs);
      await delay(100);
    }
  }
}

/** Returns the final with all of its times later. */
export function movedBy(final: Final, ms: number): Final {
  const moved = (time: string) => `${((1_000 * secondsOf(time) + ms) / 1_000).toFixed(3)}s`;
  return {
    ...final,
    ...(final.words && {
      words: final.words.map((word) => ({
        ...word,
        startTime: moved(word.startTime),
        endTime: moved(word.endTime),
      })),
    }),
  };
}
