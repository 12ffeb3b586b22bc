import type { LiveRecorder } from "../../metrics/recorders.ts";
import type { Log } from "../../std/log.ts";
import type { Effort, RecognitionMode } from "../protocol/engine.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import type { KeptOutputs, UtteranceOutputs } from "../protocol/kept-outputs.ts";
import { endUtterance, type Recognition, type SessionInput } from "../protocol/recognizer.ts";
import type { Commit, SessionCheckpoint } from "../protocol/session-checkpoint.ts";
import { ArrivalTimes } from "./arrival-times.ts";
import type { ChildSession } from "./child-session.ts";
import { CollectedOutputs } from "./collected-outputs.ts";
import type { LiveDemand } from "./live-demand.ts";
import { type InputSource, PeekableInput } from "./peekable-input.ts";
import { RecognitionQueue } from "./recognition-queue.ts";
import { ReplayBuffer } from "./replay-buffer.ts";
import type { SessionClient } from "./session-client.ts";
import { SessionFailures } from "./session-failures.ts";
import type { Place, SessionPlacement } from "./session-placement.ts";

/** The seconds of a live stream after which its effort is chosen again. */
const effortSeconds = 0.5;

export interface ReplayedRecognitionOptions {
  readonly placement: SessionPlacement;
  readonly demand: LiveDemand;
  readonly log: Log;
  /** The effort of all utterances. Default: by the room in the process. */
  readonly effort?: Effort | undefined;
  readonly onProgress?: ((ms: number) => void) | undefined;
  readonly onOutputs?: ((outputs: KeptOutputs) => void) | undefined;
  /** Records a live stream, for the metrics of the node. */
  readonly stream?: LiveRecorder | undefined;
}

/**
 * One recognition from its first sample to its last result, in as many engine processes as
 * necessary. The input since the last commit is kept: at most 10 s of silence, an utterance, and
 * the audio that waits to be processed. If a process dies, this input is replayed to another one:
 * no result is lost or repeated, and times continue from where they were.
 */
export class ReplayedRecognition implements SessionClient {
  readonly mode: RecognitionMode;
  readonly sampleRateHertz: number;
  readonly demand: LiveDemand;
  readonly #source: PeekableInput;
  readonly #options: SessionOptions;
  readonly #placement: SessionPlacement;
  readonly #fixedEffort: Effort | undefined;
  readonly #onProgress: ((ms: number) => void) | undefined;
  readonly #onOutputs: ((outputs: KeptOutputs) => void) | undefined;
  readonly #outputs = new CollectedOutputs();
  readonly #stream: LiveRecorder | undefined;
  /** When the audio of a recorded stream arrived. */
  readonly #arrivals: ArrivalTimes | undefined;
  readonly #uncommitted: ReplayBuffer;
  readonly #results = new RecognitionQueue();
  readonly #closing = new AbortController();
  #checkpoint: SessionCheckpoint | undefined;
  #place: Place | undefined;
  /** Whether the last item of the input was a flush marker. */
  #isFlushed = false;
  #effort: Effort = "quick";
  #fullDemand = 0;
  /** The number of samples to send before the effort is chosen again. */
  #samplesToEffort = 0;
  #interimEndMs = 0;
  #recognizedSamples = 0;
  /** The number of events since the last commit: sent to the client, and seen from this process. */
  #eventsSent = 0;
  #eventsSeen = 0;
  #eventMs = 0;
  /** The number of flush markers that have taken effect. */
  #flushMarkers = 0;
  /** For each later flush marker, how many there are with those that directly follow it. */
  readonly #waitingMarkers: number[] = [];
  readonly #failures: SessionFailures;

  constructor(
    source: InputSource,
    options: SessionOptions,
    { placement, demand, log, effort, onProgress, onOutputs, stream }: ReplayedRecognitionOptions,
  ) {
    this.mode = options.mode;
    this.sampleRateHertz = options.sampleRateHertz;
    this.demand = demand;
    this.#source = new PeekableInput(source);
    this.#options = options;
    this.#placement = placement;
    this.#failures = new SessionFailures(options.mode, log, () => this.uncommittedSeconds);
    this.#fixedEffort = effort;
    this.#onProgress = onProgress;
    this.#onOutputs = onOutputs;
    this.#stream = stream;
    this.#arrivals = stream && new ArrivalTimes();
    this.#uncommitted = new ReplayBuffer(options.sampleRateHertz);
  }

  get uncommittedSeconds(): number {
    return this.#uncommitted.samples / this.sampleRateHertz;
  }

  get fullDemand(): number {
    return this.#fullDemand;
  }

  /**
   * Returns all results, to be read once. Leaving the loop or aborting the signal ends the
   * recognition.
   */
  async *results(signal: AbortSignal | undefined): AsyncGenerator<Recognition, void, undefined> {
    signal?.throwIfAborted();
    const abort = () => this.#results.end({ error: signal?.reason });
    signal?.addEventListener("abort", abort);
    this.#run().then(
      () => this.#results.end(),
      (error: unknown) => this.#results.end({ error }),
    );
    try {
      yield* this.#results.read();
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#results.end();
      this.#closing.abort();
      this.#leave();
      await this.#source.close();
    }
  }

  async #run(): Promise<void> {
    // A client that has sent nothing yet occupies no place.
    if ((await this.#source.peek()) === undefined) return;
    for (let hadPlace = false; ; hadPlace = true) {
      const payload = {
        options: this.#options,
        ...(this.#checkpoint && { checkpoint: this.#checkpoint }),
        isSuspect: this.#failures.isSuspect,
      };
      const { signal } = this.#closing;
      this.#eventsSeen = 0;
      const { avoided } = this.#failures;
      this.#place = await this.#placement.find(this, payload, { hadPlace, avoided, signal });
      const { session, child } = this.#place;
      this.#outputs.begin(child.engine.outputsModel);
      // The recognition was closed while it waited for a place.
      if (signal.aborted) this.#leave();
      this.#send(this.#place).catch((error: unknown) => session.end({ kind: "failed", error }));
      const end = await session.ended;
      if (end.kind === "done") {
        this.#endOutputs();
        return;
      }
      if (end.kind === "failed") this.#failures.failed(end, child);
      else if (end.kind === "answered") this.#failures.answered(end);
      else if (end.kind === "unavailable") this.#failures.absent(end.absence);
      else if (end.kind === "lost") this.#failures.lost(end);
      else if (end.kind === "ignored") this.#failures.ignored(child);
      else this.#failures.moved();
    }
  }

  #endOutputs(): void {
    const outputs = this.#closing.signal.aborted ? undefined : this.#outputs.end();
    if (outputs) this.#onOutputs?.(outputs);
  }

  #leave(): void {
    this.#place?.child.leave(this.#place.session);
  }

  async #send(place: Place): Promise<void> {
    const { session } = place;
    for (const item of this.#uncommitted.items()) await this.#sendItem(session, item);
    for (;;) {
      const { room } = this.#results;
      if (room) await room;
      this.#arrivals?.waits();
      const item = await this.#source.peek();
      if (session.isOver) return;
      this.#source.take();
      if (item instanceof Int16Array) this.#arrived(item.length / this.sampleRateHertz);
      if (item === undefined) break;
      // A second flush marker right after the first has no effect and need not be kept.
      if (item === endUtterance && this.#isFlushed) {
        this.#repeatMarker();
        continue;
      }
      this.#isFlushed = item === endUtterance;
      if (item !== endUtterance && this.mode === "live") this.#chooseEffort(place, item.length);
      if (this.#isFlushed) this.#waitingMarkers.push(1);
      this.#uncommitted.push(item);
      const sending = this.#sendItem(session, item);
      if (sending) await sending;
    }
    session.endInput();
  }

  #arrived(seconds: number): void {
    this.#stream?.audio(seconds);
    this.#arrivals?.arrived(seconds * 1000);
  }

  #sendItem(session: ChildSession, item: SessionInput): Promise<void> | undefined {
    if (item instanceof Int16Array) return session.send(item);
    if (item === endUtterance) session.endUtterance();
    else session.setEffort(item);
    return undefined;
  }

  /**
   * Chooses the effort before the next samples are sent. A change is an item of the input, so it
   * applies to the same utterances when the input is replayed.
   */
  #chooseEffort(place: Place, length: number): void {
    if (place.child.engine.fullEffort === undefined) {
      this.#fullDemand = 0;
      return;
    }
    this.#samplesToEffort -= length;
    if (this.#samplesToEffort > 0) return;
    this.#samplesToEffort = effortSeconds * this.sampleRateHertz;
    const fixed = this.#fixedEffort;
    this.#fullDemand = fixed ? 0 : this.#placement.fullDemand(place, this.#fullDemand);
    const effort = fixed ?? (this.#fullDemand > 0 ? "full" : "quick");
    if (effort === this.#effort) return;
    this.#effort = effort;
    this.#uncommitted.push(effort);
    place.session.setEffort(effort);
  }

  interim(recognition: Recognition): void {
    // After a replay, interim results that the client already has arrive again and are dropped. The
    // client notices a delay, but no words disappear.
    if (recognition.audioEndMs <= this.#interimEndMs) return;
    this.#interimEndMs = recognition.audioEndMs;
    const lagMs = this.#arrivals?.sinceArrivalMs(recognition.audioEndMs);
    if (lagMs !== undefined) this.#stream?.interim(lagMs / 1000);
    this.#results.push(recognition);
  }

  outputs(utterance: UtteranceOutputs): void {
    this.#outputs.add(utterance);
  }

  speechEvent(event: Recognition): void {
    // After a replay, the events of the utterance arrive again.
    this.#eventsSeen += 1;
    if (this.#eventsSeen <= this.#eventsSent) return;
    this.#eventsSent = this.#eventsSeen;
    // The lead of an utterance may begin in the silence that ended the previous one.
    this.#eventMs = Math.max(this.#eventMs, event.audioEndMs);
    this.#results.push({ ...event, audioEndMs: this.#eventMs });
  }

  progress(samples: number): void {
    // After a replay, progress that was already reported arrives again.
    if (samples <= this.#recognizedSamples) return;
    this.#recognizedSamples = samples;
    this.#onProgress?.((samples * 1000) / this.sampleRateHertz);
  }

  committed({ final, checkpoint }: Commit): void {
    this.#checkpoint = checkpoint;
    this.#outputs.commit();
    this.#uncommitted.release(checkpoint.position);
    this.#failures.clear();
    this.#eventsSent = 0;
    this.#eventsSeen = 0;
    if (final) {
      const lagMs = this.#arrivals?.sinceArrivalMs(final.audioEndMs);
      if (lagMs !== undefined) this.#stream?.final(lagMs / 1000);
      this.#results.push(final);
    }
    const { flushMarkers } = checkpoint.position;
    const covered = this.#waitingMarkers.splice(0, flushMarkers - this.#flushMarkers);
    this.#flushMarkers = flushMarkers;
    for (const count of covered) this.#reportFlushes(count);
  }

  /** Counts a marker with the one before it, or reports it if that has taken effect. */
  #repeatMarker(): void {
    const last = this.#waitingMarkers.pop();
    if (last === undefined) this.#reportFlushes(1);
    else this.#waitingMarkers.push(last + 1);
  }

  #reportFlushes(count: number): void {
    if (this.#options.speechEvents !== true) return;
    const samples = this.#checkpoint?.position.samples ?? 0;
    const audioEndMs = Math.round((samples * 1000) / this.sampleRateHertz);
    for (let left = count; left > 0; left -= 1) {
      this.#results.push({ isFinal: false, alternatives: [], audioEndMs, speechEvent: "flushed" });
    }
  }
}
