import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { AudioError } from "../audio/audio-error.ts";
import { decodeAudio } from "../audio/decode.ts";
import { joinSamples } from "../audio/join-samples.ts";
import type { Sandbox } from "../audio/sandbox.ts";
import { errorShareMax, framerOf, type StreamFormat } from "../audio/stream-framers.ts";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import { ServiceError } from "../std/service-error.ts";
import { formatOf, type ContainerEncoding } from "./container-format.ts";

/** The decoding of short recordings that runs on a node concurrently (docs/api.md, Speech). */
const decodingLimits = {
  running: 4,
  runningOfOne: 2,
  waitingOfOne: 100,
  waitMsMax: 20_000,
  busyReason: "DECODERS_BUSY",
};

/** Decodes short recordings that are not bare samples. */
export class ShortDecoder {
  readonly #sandbox: Sandbox;
  readonly #turns = new FairSemaphore(decodingLimits);

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /**
   * Returns the samples at decodedSampleRate, one channel. Accounts take turns. Throws AudioError
   * for audio of another encoding, that is longer than `secondsMax`, or that cannot be decoded.
   */
  async decode(
    content: Uint8Array,
    options: {
      readonly encoding: ContainerEncoding;
      readonly accountId: string;
      readonly secondsMax: number;
      readonly signal: AbortSignal;
    },
  ): Promise<Int16Array> {
    const { encoding, accountId, secondsMax, signal } = options;
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
    const format = formatOf(encoding, bytes, true);
    if (format && format !== "wav") await checkWhole(format, bytes);
    return await this.#turns.run(accountId, signal, async () => {
      const folder = await mkdtemp(join(tmpdir(), "hlust-recognize-"));
      try {
        const file = join(folder, "audio");
        await writeFile(file, bytes, { mode: 0o644 });
        const durationMsMax = secondsMax * 1000;
        const sandbox = this.#sandbox;
        const samples = decodeAudio({ sandbox, file, durationMsMax, signal, errorShareMax });
        return joinSamples(await Array.fromAsync(samples));
      } catch (error) {
        throw explained(error, secondsMax);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
}

/** The bytes that are checked in one turn of the event loop. */
const checkedBytesMax = 65_536;

/** Throws AudioError for bytes of which a decoder would skip a part: it would not report that. */
async function checkWhole(format: StreamFormat, bytes: Buffer): Promise<void> {
  const { framer } = framerOf(format);
  for (let at = 0; at < bytes.length; at += checkedBytesMax) {
    // The bytes are checked as they are yielded.
    for (const _ of framer.push(bytes.subarray(at, at + checkedBytesMax))) void _;
    await setImmediate();
  }
  framer.end();
}

function explained(error: unknown, secondsMax: number): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code === "out_of_range") {
    return new AudioError("audio", `must be shorter than ${secondsMax} s`);
  }
  const isOfAudio = error.code === "invalid_argument" || error.code === "data_loss";
  return isOfAudio ? new AudioError("audio", `cannot be decoded: ${error.message}`) : error;
}
