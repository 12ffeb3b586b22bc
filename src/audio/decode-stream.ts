import { AudioError } from "./audio-error.ts";
import { decodedSampleRate } from "./decode.ts";
import { FlacPages } from "./flac-pages.ts";
import type { Sandbox } from "./sandbox.ts";
import { readTimedSamples, timedFormat } from "./timed-samples.ts";

/** The formats that can be decoded while they arrive, as ffmpeg's names of their demuxers. */
export type StreamFormat = "flac" | "ogg" | "matroska" | "mov" | "mp3" | "aac" | "amr";

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
  // ffmpeg's own reader of FLAC holds back ten frames.
  const pages = format === "flac" ? new FlacPages() : undefined;
  const run = await sandbox.start({
    program: "ffmpeg",
    parameters: () => {
      const before = "-nostdin -hide_banner -v warning -threads 1 -max_alloc 67108864";
      const input = "-protocol_whitelist pipe -max_streams 16 -probesize 32 -analyzeduration 0";
      const from = `-f ${pages ? "ogg" : format} -i pipe:0`;
      const sound = "-map 0:a:0 -vn -sn -dn -map_metadata -1 -af atrim=start=0 -ac 1";
      const to = `-c:a pcm_s16le -ar ${decodedSampleRate} -flush_packets 1 -f ${timedFormat} pipe:1`;
      return `${before} ${input} ${from} ${sound} ${to}`.split(" ");
    },
    cpuSecondsMax: 60 + (streamMsMax / 1000) * cpuShareMax,
    memoryBytesMax,
  });
  const { stdin } = run;
  if (!stdin) throw new Error("the decoder has no input");
  let isWritten = false;
  const write = async (bytes: Uint8Array): Promise<void> => {
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
  async function* samples(): AsyncGenerator<Int16Array, void, undefined> {
    let count = 0;
    const written = run.stdout as AsyncIterable<Buffer>;
    for await (const chunk of readTimedSamples(written, decodedSampleRate, gapMsMax)) {
      count += chunk.length;
      yield chunk;
    }
    const { status, complaints } = await run.ended;
    if (count > 0 && status === 0) return;
    if (!isWritten) return;
    throw new AudioError("audio", explained(complaints));
  }
  return {
    write: (bytes) => write(pages ? pages.push(bytes) : bytes),
    end() {
      if (pages) void write(pages.end());
      stdin.end();
    },
    samples: samples(),
    [Symbol.asyncDispose]: () => run[Symbol.asyncDispose](),
  };
}

function explained(complaints: string): string {
  if (/matches no streams/i.test(complaints)) return "has no audio stream";
  return "is damaged or cut short: it cannot be decoded";
}
