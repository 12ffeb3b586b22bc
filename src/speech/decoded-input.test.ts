import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import { encode } from "../../test/fixtures/encoded-audio.ts";
import { silence } from "../../test/fixtures/flite.ts";
import { wavOf } from "../../test/fixtures/jobs-fixture.ts";
import { chooseSandbox, type Sandbox, type SandboxRun } from "../audio/sandbox.ts";
import { endUtterance } from "../engines/protocol/recognizer.ts";
import {
  StreamingRecognizeRequestSchema,
  type StreamingRecognizeRequest,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createLog } from "../std/log.ts";
import { invalidArgument, ServiceError } from "../std/service-error.ts";
import { AudioInput } from "./audio-input.ts";
import { DecodedInput } from "./decoded-input.ts";
import { Deadline } from "./deadline.ts";
import { DecoderPlaces } from "./decoder-places.ts";

const audioMs = 40_000;
const samplesPerMs = 16;
/** How often a marker looks whether it takes effect. */
const stepMs = 25;

afterEach(() => mock.reset());

/** A sandbox whose programs are stopped as soon as they run, as on a machine that is overloaded. */
async function openStoppedSandbox(): Promise<{ sandbox: Sandbox; resume: () => void }> {
  const sandbox = await chooseSandbox("reduced", createLog("silent"));
  const runs: SandboxRun[] = [];
  const signal = (name: "SIGSTOP" | "SIGCONT"): void => {
    for (const { pid } of runs) if (pid !== undefined) process.kill(-pid, name);
  };
  return {
    sandbox: {
      kind: sandbox.kind,
      async start(options) {
        const run = await sandbox.start(options);
        runs.push(run);
        signal("SIGSTOP");
        return run;
      },
    },
    resume: () => signal("SIGCONT"),
  };
}

/** A client that sends audio and a marker, and then waits for the answer. */
function waitingClient(audio: Buffer) {
  const { promise: isRead, resolve } = Promise.withResolvers<undefined>();
  const message = (streamingRequest: StreamingRecognizeRequest["streamingRequest"]) =>
    create(StreamingRecognizeRequestSchema, { streamingRequest });
  async function* messages() {
    yield message({ case: "audioContent", value: audio });
    yield message({ case: "finalizeUtterance", value: true });
    resolve(undefined);
    await new Promise(() => {});
  }
  return { messages: messages(), isRead };
}

test("a marker waits for the audio before it when the decoder starts late and is read slowly", async () => {
  // Silence is so small that the decoder's pipe holds all of it.
  const { messages, isRead } = waitingClient(encode(wavOf(silence(audioMs)), "flac"));
  using deadline = new Deadline(60_000, () => new ServiceError("unavailable", "too long"));
  const source = new AudioInput(messages, deadline, {
    idleMsMax: 60_000,
    read: (bytes) => bytes,
    meter: () => undefined,
  });
  let nowMs = performance.now();
  mock.method(performance, "now", () => nowMs);
  mock.timers.enable({ apis: ["setInterval"] });
  const pass = (ms: number): void => {
    for (let left = ms; left > 0; left -= stepMs) {
      nowMs += stepMs;
      mock.timers.tick(stepMs);
    }
  };
  const { sandbox, resume } = await openStoppedSandbox();
  await using input = new DecodedInput(source, {
    encoding: "FLAC",
    sandbox,
    places: new DecoderPlaces(1),
    streamMsMax: 60_000,
    gapMsMax: 1_000,
    meter: () => undefined,
    explain: ({ message }) => invalidArgument([{ field: "audio", description: message }]),
  });
  const first = input.next();
  await isRead;
  pass(9_000);
  resume();
  const { value } = await first;
  assert.ok(value instanceof Int16Array, "the marker came before any audio");
  // The decoder waits with the rest, since only one item was read.
  pass(50);
  let samples = value.length;
  // The decoder keeps the last frames until more follow.
  while (samples < (audioMs - 1_000) * samplesPerMs) {
    const item = await input.next();
    assert.ok(item.value instanceof Int16Array, `the marker came after ${samples} samples`);
    samples += item.value.length;
  }
  pass(100);
  let last: unknown;
  while (last !== endUtterance) last = (await input.next()).value;
});
