import { AudioError } from "./audio-error.ts";
import { decodedSampleRate } from "./decode.ts";
import type { Sandbox, SandboxRun } from "./sandbox.ts";
import { errorShareMax, framerOf, type StreamFormat } from "./stream-framers.ts";
import { readTimedSamples, timedFormat } from "./timed-samples.ts";

/** A decoder of audio that arrives gradually. Disposing of it ends its process. */
export interface StreamDecoder extends AsyncDisposable {
  /** Writes the next bytes, which may be split anywhere. Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the audio: the rest of the samples follows. */
  end(): void;
  /**
   * The samples at decodedSampleRate, one channel, as they are decoded; read once. Throws
   * AudioError for audio that cannot be decoded.
   */
  readonly samples: AsyncGenerator<Int16Array, void, undefined>;
}

/** The address space of a decoder. The libraries of ffmpeg take a third of it. */
const memoryBytesMax = 768 * 1024 ** 2;
/** The CPU time of a decoder per second of the longest stream. */
const cpuShareMax = 0.25;

/**
 * Starts ffmpeg in the sandbox so that each sample is decoded as soon as its bytes have arrived:
 * ffmpeg does not probe, buffer or wait. A gap of more than `gapMsMax` in the times of the audio is
 * an error.
 */
export async function openStreamDecoder(options: {
  readonly sandbox: Sandbox;
  readonly format: StreamFormat;
  readonly streamMsMax: number;
  readonly gapMsMax: number;
}): Promise<StreamDecoder> {
  const { sandbox, format, streamMsMax, gapMsMax } = options;
  const { framer, demuxer } = framerOf(format);
  const run = await startDecoder(sandbox, demuxer, streamMsMax);
  const { stdin } = run;
  if (!stdin) throw new Error("the decoder has no input");
  let isWritten = false;
  let problem: AudioError | undefined;
  const pass = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0 || stdin.destroyed || !stdin.writable) return;
    isWritten = true;
    if (stdin.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stdin.off("drain", done).off("close", done);
        resolve();
      };
      stdin.on("drain", done).on("close", done);
    });
  };
  /** Ends the input of the decoder with the reason why no more of it can be decoded. */
  const stop = (error: unknown): void => {
    if (!(error instanceof AudioError)) throw error;
    problem = error;
    stdin.end();
  };
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (problem) return;
    try {
      for (const part of framer.push(bytes)) await pass(part);
    } catch (error) {
      stop(error);
    }
  };
  const end = (): void => {
    if (problem) return;
    try {
      void pass(framer.end());
      stdin.end();
    } catch (error) {
      stop(error);
    }
  };
  async function* samples(): AsyncGenerator<Int16Array, void, undefined> {
    const written = run.stdout as AsyncIterable<Buffer>;
    const timed = readTimedSamples(written, decodedSampleRate, gapMsMax);
    let count = 0;
    let padding: number | undefined;
    for await (const chunk of timed) {
      padding ??= Math.round((framer.paddingSeconds ?? 0) * decodedSampleRate);
      const left = Math.min(padding, chunk.length);
      padding -= left;
      count += chunk.length;
      if (left < chunk.length) yield chunk.subarray(left);
    }
    const { status, complaints } = await run.ended;
    if (problem) throw problem;
    if (count > 0 && status === 0) return;
    if (!isWritten) return;
    throw new AudioError("audio", explained(complaints));
  }
  return {
    write,
    end,
    samples: samples(),
    [Symbol.asyncDispose]: () => run[Symbol.asyncDispose](),
  };
}

function startDecoder(sandbox: Sandbox, demuxer: string, streamMsMax: number): Promise<SandboxRun> {
  return sandbox.start({
    program: "ffmpeg",
    parameters: () => {
      const before = "-nostdin -hide_banner -v warning -threads 1 -max_alloc 67108864";
      const input = "-protocol_whitelist pipe -max_streams 16 -probesize 32 -analyzeduration 0";
      const from = `-max_error_rate ${errorShareMax} -f ${demuxer} -i pipe:0`;
      const sound = "-map 0:a:0 -vn -sn -dn -map_metadata -1 -af atrim=start=0 -ac 1";
      const to = `-c:a pcm_s16le -ar ${decodedSampleRate} -flush_packets 1 -f ${timedFormat} pipe:1`;
      return `${before} ${input} ${from} ${sound} ${to}`.split(" ");
    },
    cpuSecondsMax: 60 + (streamMsMax / 1000) * cpuShareMax,
    memoryBytesMax,
  });
}

function explained(complaints: string): string {
  if (/matches no streams/i.test(complaints)) return "has no audio stream";
  return "is damaged or cut short: it cannot be decoded";
}
