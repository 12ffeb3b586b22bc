import { ServiceError } from "../../std/service-error.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { LoadReport } from "../protocol/load-report.ts";

/**
 * Live sessions may need this share of each core: what is left catches up after a burst, and goes
 * to recordings. Measured with PocketSphinx: at 0.74 words come 160 ms late (p95), at 0.93 1 s.
 */
const liveShareMax = 0.8;
/** Once refused, a stream is let in again when there is this much more room than it needs. */
const roomToSpare = 0.05;
/**
 * When live audio is heard this late, there is less of the machine than was thought, or more to
 * hear.
 */
const liveLateMsMax = 300;
/** A recording that would wait longer than this for its turn is refused. */
const queueMsMax = 20_000;
/** Recordings get at least this share of a process, however much is live. */
const queueShareMin = 0.1;
/**
 * What was measured at the start counts for as many seconds of audio, and newer measures for more
 * than old ones.
 */
const priorSeconds = 2;
const memoryOfReports = 0.998;
/** No engine is cheaper than what carries its audio. */
const cpuPerAudioMin = 0.0005;
const retryMs = { live: 5000, short: 2000 } as const;

/** A process as far as it matters for who is let in. */
export interface LoadedProcess {
  readonly sessions: number;
  readonly isResponsive: boolean;
  readonly liveDemand: number;
  readonly liveLateMs: number;
  unsettledSeconds(modes: readonly RecognitionMode[]): number;
}

/** Decides which process a session goes to, and whether there is room for it at all. */
export class Admission {
  readonly #cores: number;
  readonly #everyone: () => readonly LoadedProcess[];
  readonly #costs: Record<RecognitionMode, Cost>;
  #isFull = false;

  /**
   * For the processes of one model. `cpuPerSpeech`: CPU seconds that a second of live speech takes,
   * as measured at the start. `everyone`: the processes of all models, which share the cores.
   */
  constructor(cores: number, cpuPerSpeech: number, everyone: () => readonly LoadedProcess[]) {
    this.#cores = cores;
    this.#everyone = everyone;
    this.#costs = {
      live: new Cost(cpuPerSpeech),
      short: new Cost(cpuPerSpeech),
      job: new Cost(cpuPerSpeech),
    };
  }

  /** Share of a core that a live session is expected to need. */
  get liveDemand(): number {
    return this.#costs.live.cpuPerAudio;
  }

  learn({ work }: LoadReport): void {
    this.#costs.live.learn(work.live);
    this.#costs.short.learn(work.short);
    this.#costs.job.learn(work.job);
  }

  /** Live sessions that these can hear at a time while all of them speak and nobody else does. */
  streamsMax(processes: readonly LoadedProcess[]): number {
    const streams = Math.floor(this.#coresFor(processes) / this.liveDemand);
    return Math.max(processes.length > 0 ? 1 : 0, streams);
  }

  /** Share of what live sessions of all models may take that is in use. */
  load(): number {
    const everyone = this.#everyone();
    const cores = this.#coresFor(everyone);
    return cores > 0 ? demandOf(everyone) / cores : 0;
  }

  #coresFor(processes: readonly LoadedProcess[]): number {
    return Math.min(processes.length, this.#cores) * liveShareMax;
  }

  /**
   * The best process for a new session. Throws resource_exhausted when none can hear it in time.
   * Jobs are never refused: they wait.
   */
  admit<P extends LoadedProcess>(mode: RecognitionMode, processes: readonly P[]): P | undefined {
    const best = this.choose(mode, processes);
    if (!best) return undefined;
    if (mode === "live") this.#admitLive(best);
    if (mode === "short") this.#admitShort(best);
    return best;
  }

  /** The process where this mode waits least, whether there is room or not. */
  choose<P extends LoadedProcess>(mode: RecognitionMode, processes: readonly P[]): P | undefined {
    const ranked = processes.map((process) => ({
      process,
      isSlow: Number(!process.isResponsive || process.liveLateMs > liveLateMsMax),
      load: mode === "live" ? process.liveDemand : this.#queueMs(mode, process),
    }));
    ranked.sort(
      (a, b) => a.isSlow - b.isSlow || a.load - b.load || a.process.sessions - b.process.sessions,
    );
    return ranked[0]?.process;
  }

  /** Whether a live session more is more than this process can hear in time. */
  isCrowded(
    {
      mode,
      demand,
    }: { readonly mode: RecognitionMode; readonly demand: { readonly share: number } },
    process: LoadedProcess,
  ): boolean {
    return (
      mode === "live" && process.sessions > 0 && process.liveDemand + demand.share > liveShareMax
    );
  }

  #admitLive(best: LoadedProcess): void {
    const everyone = this.#everyone();
    const need = this.liveDemand + (this.#isFull ? roomToSpare : 0);
    const cores = Math.min(everyone.length, this.#cores);
    const isOver =
      best.liveDemand + need > liveShareMax ||
      demandOf(everyone) + need > liveShareMax * cores ||
      best.liveLateMs > liveLateMsMax;
    // Where nobody is heard one stream always is, however slow the engine.
    const isBusy = ({ liveDemand }: LoadedProcess) => liveDemand > roomToSpare;
    this.#isFull = isOver && (isBusy(best) || everyone.filter(isBusy).length >= cores);
    if (!this.#isFull) return;
    throw new ServiceError(
      "resource_exhausted",
      "no more live streams can be heard in real time here now; try again",
      { reason: "STREAMS_FULL", retryAfterMs: retryMs.live },
    );
  }

  #admitShort(best: LoadedProcess): void {
    const queueMs = this.#queueMs("short", best);
    if (queueMs <= queueMsMax) return;
    throw new ServiceError(
      "resource_exhausted",
      `recordings wait ${Math.round(queueMs / 1000)} s for their turn: at most ${queueMsMax / 1000} s are accepted`,
      { reason: "QUEUE_FULL", retryAfterMs: Math.max(retryMs.short, queueMs - queueMsMax) },
    );
  }

  /**
   * How long a recording would wait here for those before it, at the rank of its mode and above.
   */
  #queueMs(mode: "short" | "job", process: LoadedProcess): number {
    const everyone = this.#everyone();
    const idleCores = Math.min(everyone.length, this.#cores) - demandOf(everyone);
    const share = Math.max(queueShareMin, Math.min(1 - process.liveDemand, idleCores));
    const shortSeconds = process.unsettledSeconds(["short"]) * this.#costs.short.cpuPerAudio;
    const jobSeconds =
      mode === "job" ? process.unsettledSeconds(["job"]) * this.#costs.job.cpuPerAudio : 0;
    return ((shortSeconds + jobSeconds) / share) * 1000;
  }
}

function demandOf(processes: readonly LoadedProcess[]): number {
  return processes.reduce((sum, { liveDemand }) => sum + liveDemand, 0);
}

/** CPU time of a second of audio, as measured. */
class Cost {
  #cpuSeconds: number;
  #audioSeconds = priorSeconds;

  constructor(cpuPerAudio: number) {
    this.#cpuSeconds = cpuPerAudio * priorSeconds;
  }

  get cpuPerAudio(): number {
    return Math.max(cpuPerAudioMin, this.#cpuSeconds / this.#audioSeconds);
  }

  learn({ cpuSeconds, audioSeconds }: { cpuSeconds: number; audioSeconds: number }): void {
    if (audioSeconds === 0 && cpuSeconds === 0) return;
    this.#cpuSeconds = this.#cpuSeconds * memoryOfReports + cpuSeconds;
    this.#audioSeconds = this.#audioSeconds * memoryOfReports + audioSeconds;
  }
}
