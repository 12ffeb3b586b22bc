import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudioError } from "../audio/audio-error.ts";
import { decodeAudio } from "../audio/decode.ts";
import { joinSamples } from "../audio/join-samples.ts";
import type { Sandbox } from "../audio/sandbox.ts";
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
    formatOf(encoding, bytes, true);
    return await this.#turns.run(accountId, signal, async () => {
      const folder = await mkdtemp(join(tmpdir(), "hlust-recognize-"));
      try {
        const file = join(folder, "audio");
        await writeFile(file, bytes, { mode: 0o644 });
        const durationMsMax = secondsMax * 1000;
        const sandbox = this.#sandbox;
        const samples = decodeAudio({ sandbox, file, durationMsMax, signal });
        return joinSamples(await Array.fromAsync(samples));
      } catch (error) {
        throw explained(error, secondsMax);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
}

function explained(error: unknown, secondsMax: number): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code === "out_of_range") {
    return new AudioError("audio", `must be shorter than ${secondsMax} s`);
  }
  const isOfAudio = error.code === "invalid_argument" || error.code === "data_loss";
  return isOfAudio ? new AudioError("audio", `cannot be decoded: ${error.message}`) : error;
}
