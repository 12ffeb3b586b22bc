import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { chooseSandbox } from "../../src/audio/sandbox.ts";
import { openEnginePool, type EnginePool } from "../../src/engines/pool/engine-pool.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  StreamingRecognizeRequestSchema,
  StreamingRecognizeResponse_SpeechEventType as SpeechEventType,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { createSpeechDecoding, type SpeechDecoding } from "../../src/speech/speech-service.ts";
import { streamingRecognize } from "../../src/speech/streaming-recognize.ts";
import { msOfDuration } from "../../src/std/duration.ts";
import { createLog } from "../../src/std/log.ts";
import { wavHeader } from "../../src/std/wav.ts";
import type { Figure } from "../report.ts";

/** Live encoders of ffmpeg: name, encoding, parameters. */
const encoders: readonly [name: string, encoding: Encoding, parameters: string][] = [
  ["LINEAR16", Encoding.LINEAR16, "-f s16le"],
  ["FLAC", Encoding.FLAC, "-c:a flac -f flac"],
  ["OGG_OPUS", Encoding.OGG_OPUS, "-c:a libopus -b:a 24k -page_duration 20000 -f ogg"],
  ["MP3 at 64 kbit/s", Encoding.MP3, "-c:a libmp3lame -b:a 64k -f mp3"],
  ["MP3 at 32 kbit/s", Encoding.MP3, "-c:a libmp3lame -b:a 32k -f mp3"],
  ["AAC by GUESS", Encoding.GUESS, "-c:a aac -b:a 32k -f adts"],
  [
    "MP4 by GUESS, fragments of 20 ms",
    Encoding.GUESS,
    "-c:a aac -b:a 32k -movflags empty_moov+default_base_moof -frag_duration 20000 -f mp4",
  ],
  ["Vorbis by GUESS, pages of 20 ms", Encoding.GUESS, "-c:a libvorbis -page_duration 20000 -f ogg"],
  ["WebM by GUESS", Encoding.GUESS, "-c:a libopus -b:a 24k -cluster_time_limit 20 -f webm"],
];
const utterances = 8;

/**
 * Measures how much later than with LINEAR16 the ends of utterances are reported when a live
 * encoder sends the same audio compressed: at most 200 ms in the median.
 */
export async function measureCompressed(): Promise<Figure[]> {
  const log = createLog("silent");
  const decoding = createSpeechDecoding(await chooseSandbox("auto", log));
  await using pool = await openEnginePool({ engine: "scripted", processes: 1, log });
  const folder = mkdtempSync(join(tmpdir(), "hlust-compressed-"));
  try {
    const file = join(folder, "tones.wav");
    writeFileSync(file, tones());
    const lags = new Map<string, number>();
    for (const [name, encoding, parameters] of encoders) {
      const encoder = `-nostdin -v error -re -i ${file} ${parameters} -flush_packets 1 pipe:1`;
      lags.set(name, await medianLag(pool, decoding, { encoding, parameters: encoder.split(" ") }));
    }
    const bare = lags.get("LINEAR16") ?? Number.NaN;
    return encoders.slice(1).map(([name]) => ({
      name: `delay of ${name}`,
      ratio: (lags.get(name) ?? Number.NaN) - bare,
      ratioMax: 200,
      unit: "ms",
      note: `more than LINEAR16, which has ${bare.toFixed(0)} ms, with the encoder`,
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the median of the times between the end of an utterance in the audio and its event. */
async function medianLag(
  pool: EnginePool,
  decoding: SpeechDecoding,
  { encoding, parameters }: { readonly encoding: Encoding; readonly parameters: readonly string[] },
): Promise<number> {
  let startMs: number | undefined;
  async function* requests() {
    const config = { encoding, sampleRateHertz: 16_000, languageCode: "is-IS" };
    const value = { config, enableVoiceActivityEvents: true };
    yield request({ streamingRequest: { case: "streamingConfig", value } });
    const encoder = spawn("ffmpeg", parameters, { stdio: ["ignore", "pipe", "inherit"] });
    for await (const bytes of encoder.stdout as AsyncIterable<Buffer>) {
      startMs ??= performance.now();
      const audio = Uint8Array.from(bytes);
      yield request({ streamingRequest: { case: "audioContent", value: audio } });
    }
  }
  const options = {
    limits: { streamMsMax: 600_000 },
    meterAudio: () => undefined,
    extendHints: async () => await Promise.resolve(undefined),
    decoding,
    describeResults: false,
    call: { signal: new AbortController().signal },
  };
  const lags: number[] = [];
  for await (const each of streamingRecognize(requests(), pool, options)) {
    if (each.speechEventType !== SpeechEventType.END_OF_SPEECH || !each.speechEventTime) continue;
    lags.push(performance.now() - (startMs ?? 0) - msOfDuration(each.speechEventTime));
  }
  return lags.toSorted((a, b) => a - b)[Math.floor(lags.length / 2)] ?? Number.NaN;
}

function request(init: MessageInitShape<typeof StreamingRecognizeRequestSchema>) {
  return create(StreamingRecognizeRequestSchema, init);
}

/** Returns a WAV file of tones of half a second, each followed by 1.5 s of silence. */
function tones(): Buffer {
  const samples = Int16Array.from({ length: utterances * 32_000 }, (_, at) =>
    at % 32_000 < 8_000 ? 6_000 * Math.sin(at / 8) : 0,
  );
  const header = wavHeader({ sampleRateHertz: 16_000, dataBytes: samples.byteLength });
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}
