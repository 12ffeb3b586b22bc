import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { until } from "../../test/fixtures/until.ts";
import type { RecognitionInput } from "../engines/protocol/recognizer.ts";
import {
  StreamingRecognizeRequestSchema,
  type StreamingRecognizeRequest,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { AudioInput } from "./audio-input.ts";
import { Deadline } from "./deadline.ts";

const expired = () => new ServiceError("unavailable", "too long", { reason: "STREAM_TOO_LONG" });

const read = (bytes: Uint8Array) => new Int16Array(bytes.length / 2);

function audio(bytes: number): StreamingRecognizeRequest {
  const streamingRequest = { case: "audioContent" as const, value: new Uint8Array(bytes) };
  return create(StreamingRecognizeRequestSchema, { streamingRequest });
}

/** A client that endlessly sends a chunk every few milliseconds and counts the chunks. */
function speaker() {
  const sent = { chunks: 0, isOver: false };
  async function* messages() {
    while (!sent.isOver) {
      await sleep(5);
      sent.chunks += 1;
      yield audio(160);
    }
  }
  return { sent, messages: messages() };
}

/** Reads to the end and returns the number of chunks. */
async function chunksOf(input: AsyncIterable<RecognitionInput>): Promise<number> {
  let chunks = 0;
  for await (const each of input) if (each instanceof Int16Array) chunks += 1;
  return chunks;
}

/** Resolves when a wait of this length exceeds the limit of a Deadline. */
async function waitsTooLong(msMax: number): Promise<void> {
  using deadline = new Deadline(60_000, expired);
  const never = deadline.within(
    msMax,
    () => new Promise<never>(() => {}),
    () => "too long",
  );
  await assert.rejects(never, /too long/);
}

test("AudioInput keeps its refusal and accepts no more audio while its client continues to send", async () => {
  const { sent, messages } = speaker();
  using deadline = new Deadline(100, expired);
  let samples = 0;
  const input = new AudioInput(messages, deadline, {
    idleMsMax: 10_000,
    read,
    meter(more) {
      samples += more.length;
      return undefined;
    },
  });
  const chunks = await chunksOf(input);
  assert.equal(input.refusal?.reason, "STREAM_TOO_LONG");
  const sentByThen = sent.chunks;
  // The message that the input was waiting for arrives later.
  await until(() => Promise.resolve(sent.chunks > sentByThen));
  await new Promise(setImmediate);
  assert.equal(input.refusal?.reason, "STREAM_TOO_LONG");
  assert.equal(samples, chunks * 80, "only accepted audio is metered");
  assert.equal((await input.next()).done, true);
  sent.isOver = true;
});

test("an AudioInput that its client has ended is not refused when a time limit expires later", async () => {
  for (const [streamMs, idleMs] of [
    [50, 10_000],
    [10_000, 50],
  ] as const) {
    using deadline = new Deadline(streamMs, expired);
    const messages = [audio(160), audio(0)].values();
    const input = new AudioInput(fromAll(messages), deadline, {
      idleMsMax: idleMs,
      read,
      meter: () => undefined,
    });
    assert.equal(await chunksOf(input), 1);
    await waitsTooLong(2 * 50);
    assert.equal(input.refusal, undefined, `${streamMs} ms, ${idleMs} ms without audio`);
  }
});

test("AudioInput returns everything that was received, however late it is read", async () => {
  using deadline = new Deadline(10_000, expired);
  const messages = Array.from({ length: 5 }, () => audio(160)).values();
  const input = new AudioInput(fromAll(messages), deadline, {
    idleMsMax: 50,
    read,
    meter: () => undefined,
  });
  assert.equal(await input.begins(), true);
  await input.next();
  await waitsTooLong(2 * 50);
  assert.equal(await chunksOf(input), 4);
  assert.equal(input.refusal, undefined);
});

async function* fromAll(messages: Iterable<StreamingRecognizeRequest>) {
  yield* messages;
}
