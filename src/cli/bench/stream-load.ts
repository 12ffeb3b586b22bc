import { Distribution, type Summary } from "./distribution.ts";
import { FailureCounts, type Failure } from "./failures.ts";
import { compareFinals, type FinalsComparison, type StreamFinals } from "./finals.ts";
import { LiveStream, type LiveStreamEnd, type LiveStreamOptions } from "./live-stream.ts";
import { chunksOf, type Chunks, type SentRecording } from "./recording.ts";
import { Schedule } from "./schedule.ts";
import { StreamLag } from "./stream-lag.ts";
import type { Target } from "./target.ts";
import { ToolWatch, type ToolUse } from "./tool-watch.ts";

/** The path of live streams (§4.9). */
const streamPath = "/v2beta1/speech:streamingrecognize";
/**
 * Multiples of the golden ratio, modulo 1, spread the chunks of any number of streams evenly over
 * the chunk interval.
 */
const goldenRatio = 0.618_033_988_749_895;

export interface StreamLoadOptions {
  readonly target: Pick<Target, "url" | "token" | "tokenIn">;
  /** The recordings to send: stream n sends the recording at index n modulo their number. */
  readonly recordings: readonly SentRecording[];
  readonly streams: number;
  /**
   * The seconds of audio sent per second. 1 is real time; 0 means as fast as the sockets accept it.
   */
  readonly rate: number;
  readonly chunkMs: number;
  /** The time over which the stream starts are spread. */
  readonly rampMs: number;
  /** The duration of each stream; if undefined, the duration of its recording. */
  readonly durationMs: number | undefined;
  readonly languageCode: string;
  readonly interim: boolean;
  readonly wordTimes: boolean;
  /** The silence after which the server ends an utterance; used to measure lag. */
  readonly silenceMs: number;
  readonly timeoutMs: number;
}

/** The results of the streams. Times are in milliseconds. */
export interface StreamLoad extends FinalsComparison {
  readonly streams: { readonly started: number; readonly ended: number; readonly failed: number };
  readonly failures: readonly Failure[];
  readonly closeCodes: Readonly<Record<string, number>>;
  readonly chunks: number;
  readonly audioSeconds: number;
  readonly wallMs: number;
  readonly messages: { readonly interim: number; readonly final: number };
  readonly openMs: Summary | undefined;
  readonly interimLagMs: Summary | undefined;
  readonly finalLagMs: Summary | undefined;
  readonly lastFinalLagMs: Summary | undefined;
  /** The time from the empty audioContent to the close. */
  readonly closeMs: Summary | undefined;
  readonly tool: ToolUse;
}

/** Runs streams against a server and reports the results. */
export async function runStreamLoad(options: StreamLoadOptions): Promise<StreamLoad> {
  const { recordings, streams, chunkMs, rampMs } = options;
  using schedule = new Schedule();
  using tool = new ToolWatch();
  const load = new Load(options, tool);
  const chunks = recordings.map((recording) => chunksOf(recording, chunkMs));
  const startedAt = performance.now();
  const ended = Array.from({ length: streams }, async (_, index) => {
    const which = index % recordings.length;
    const [recording, cut] = [recordings[which], chunks[which]];
    if (!recording || !cut) return;
    const spreadMs = ((index * goldenRatio) % 1) * Math.min(chunkMs, rampMs);
    const start = Promise.withResolvers<void>();
    schedule.at(startedAt + (index * rampMs) / streams + spreadMs, () => start.resolve());
    await start.promise;
    await load.run(recording.name, streamOptions(options, cut, schedule));
  });
  await Promise.all(ended);
  return load.report(performance.now() - startedAt);
}

function streamOptions(
  options: StreamLoadOptions,
  chunks: Chunks,
  schedule: Schedule,
): LiveStreamOptions {
  const { target, rate, chunkMs, durationMs, timeoutMs } = options;
  const { token, tokenIn } = target;
  const query =
    token !== undefined && tokenIn === "query" ? `?token=${encodeURIComponent(token)}` : "";
  const config = {
    encoding: "LINEAR16",
    sampleRateHertz: chunks.sampleRateHertz,
    languageCode: options.languageCode,
    enableWordTimeOffsets: options.wordTimes,
  };
  return {
    url: `${target.url.replace(/^http/, "ws")}${streamPath}${query}`,
    protocols: token !== undefined && tokenIn === "protocol" ? ["Bearer", token] : [],
    headers:
      token !== undefined && tokenIn === "header" ? { authorization: `Bearer ${token}` } : {},
    configuration: JSON.stringify({
      streamingConfig: { config, interimResults: options.interim },
    }),
    chunks,
    chunkCount: durationMs === undefined ? chunks.messages.length : Math.ceil(durationMs / chunkMs),
    intervalMs: rate === 0 ? 0 : chunkMs / rate,
    timeoutMs,
    schedule,
  };
}

/** Collects the results of the streams. */
class Load {
  readonly #options: StreamLoadOptions;
  readonly #tool: ToolWatch;
  readonly #opens = new Distribution();
  readonly #closes = new Distribution();
  readonly #lags = {
    interim: new Distribution(),
    final: new Distribution(),
    lastFinal: new Distribution(),
  };
  readonly #finals: StreamFinals[] = [];
  readonly #failures = new FailureCounts();
  readonly #closeCodes: Record<string, number> = {};
  #chunks = 0;
  #ended = 0;
  readonly #messages = { interim: 0, final: 0 };

  constructor(options: StreamLoadOptions, tool: ToolWatch) {
    this.#options = options;
    this.#tool = tool;
  }

  async run(recording: string, options: LiveStreamOptions): Promise<void> {
    const texts: string[] = [];
    this.#finals.push({ recording, texts });
    let lag: StreamLag | undefined;
    const stream = new LiveStream(options, {
      opened: (tookMs) => this.#opens.add(tookMs),
      sent: (lateMs) => {
        this.#chunks += 1;
        if (options.intervalMs > 0) this.#tool.sent(lateMs);
      },
      answered: (result, sent, atMs) => {
        this.#messages[result.isFinal ? "final" : "interim"] += 1;
        if (result.isFinal) texts.push(result.transcript);
        lag ??= new StreamLag(sent, this.#options.silenceMs, this.#lags);
        lag.answered(result, atMs);
      },
    });
    this.#end(await stream.ended);
  }

  #end({ closeCode, failure, closeMs }: LiveStreamEnd): void {
    if (closeCode !== undefined) {
      this.#closeCodes[closeCode] = (this.#closeCodes[closeCode] ?? 0) + 1;
    }
    if (!failure) {
      this.#ended += 1;
      if (closeMs !== undefined) this.#closes.add(closeMs);
      return;
    }
    this.#failures.add(failure.kind, failure.message);
  }

  report(wallMs: number): StreamLoad {
    const started = this.#finals.length;
    return {
      streams: { started, ended: this.#ended, failed: started - this.#ended },
      failures: this.#failures.all,
      ...compareFinals(this.#finals),
      closeCodes: this.#closeCodes,
      chunks: this.#chunks,
      audioSeconds: (this.#chunks * this.#options.chunkMs) / 1000,
      wallMs,
      messages: this.#messages,
      openMs: this.#opens.summary(),
      interimLagMs: this.#lags.interim.summary(),
      finalLagMs: this.#lags.final.summary(),
      lastFinalLagMs: this.#lags.lastFinal.summary(),
      closeMs: this.#closes.summary(),
      tool: this.#tool.stop(),
    };
  }
}
