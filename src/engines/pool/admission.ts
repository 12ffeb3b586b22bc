import { ServiceError } from "../../std/service-error.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { LoadReport } from "../protocol/load-report.ts";

/**
 * The share of each core that live sessions may need. The rest lets them catch up after a burst,
 * and is used for recordings. Measured with PocketSphinx: at 0.74, words are 160 ms late (p95); at
 * 0.93, 1 s.
 */
export const liveShareMax = 0.8;
/**
 * The share of each core that live sessions may need with full effort, if all of them carry speech.
 * A second search comes in bursts: with 0.8 of what they need now, 8 streams over two cores got
 * their finals 1 s later (p95) than with quick effort, and with 0.6 0.4 s later.
 */
const fullShareMax = 0.6;
/** The delay of live audio above which every utterance gets quick effort. */
const fullLateMsMax = 150;
/** The additional room that must be free, after a refusal, before streams are admitted again. */
const roomToSpare = 0.05;
/** The delay of live audio above which a process is overloaded. */
const liveLateMsMax = 300;
/**
 * The maximum waiting time of a short recording; a recording that would wait longer for its turn is
 * refused.
 */
const queueMsMax = 20_000;
/** The minimum share of a process that recordings get, whatever its live sessions need. */
const queueShareMin = 0.1;
/** The weight of the measurement at the start, in seconds of audio. */
const priorSeconds = 2;
/** The factor by which each report multiplies the weight of all earlier reports. */
const memoryOfReports = 0.998;
/** The minimum cost of audio: merely transferring it takes this much CPU time with any engine. */
const cpuPerAudioMin = 0.0005;
const retryMs = { live: 5000, short: 2000 } as const;

/** The properties of a process on which admission depends. */
export interface LoadedProcess {
  readonly sessions: number;
  readonly isResponsive: boolean;
  readonly liveDemand: number;
  readonly fullDemand: number;
  readonly liveLateMs: number;
  /** Whether its latest sessions all ended with an error. */
  readonly isFailing?: boolean;
  uncommittedSeconds(modes: readonly RecognitionMode[]): number;
}

/**
 * Returns the share in use of the cores that live sessions of all models may occupy, on all
 * machines.
 */
export function liveLoad(
  machines: Iterable<{
    readonly cores: number;
    readonly processes: () => readonly LoadedProcess[];
  }>,
): number {
  let [demand, cores] = [0, 0];
  for (const machine of machines) {
    const all = machine.processes();
    demand += demandOf(all);
    cores += liveCoresOf(all, machine.cores);
  }
  return cores > 0 ? demand / cores : 0;
}

function liveCoresOf(processes: readonly LoadedProcess[], cores: number): number {
  return Math.min(processes.length, cores) * liveShareMax;
}

/** Decides whether there is room for a session on one machine, and in which process. */
export class Admission {
  readonly #cores: number;
  readonly #allProcesses: () => readonly LoadedProcess[];
  readonly #costs: Record<RecognitionMode, Cost>;
  /** The additional cost of full effort; undefined if the engine has only one effort. */
  readonly #fullCost: Cost | undefined;
  readonly #sessionsMax: number | undefined;
  #isFull = false;

  /**
   * Creates the admission for the processes of one model. `cpuPerSpeech`: CPU seconds for a second
   * of live speech, as measured at the start. `allProcesses`: the processes of all models, which
   * share the cores. `fullEffort`: Engine.fullEffort. `sessionsMax`: the maximum number of sessions
   * at the server of a hosted model, which does the work.
   */
  constructor(
    cores: number,
    cpuPerSpeech: number,
    allProcesses: () => readonly LoadedProcess[],
    fullEffort?: number,
    sessionsMax?: number,
  ) {
    this.#sessionsMax = sessionsMax;
    this.#cores = cores;
    this.#allProcesses = allProcesses;
    this.#costs = {
      live: new Cost(cpuPerSpeech),
      short: new Cost(cpuPerSpeech),
      job: new Cost(cpuPerSpeech),
    };
    if (fullEffort !== undefined) this.#fullCost = new Cost(fullEffort * cpuPerSpeech);
  }

  /** The share of a core that a live session is expected to need. */
  get liveDemand(): number {
    return this.#costs.live.cpuPerAudio;
  }

  /**
   * Returns the share of a core that the next utterances of a stream in this process need for full
   * effort, in addition to quick effort; 0 if there is no room for it. Full effort never takes room
   * from streams or from recordings for which clients wait: they are admitted as if every stream
   * had quick effort. `before`: the last answer for this stream.
   */
  fullDemand(process: LoadedProcess, before: number): number {
    const share = this.#fullCost?.cpuPerAudio ?? 0;
    const all = this.#allProcesses();
    const cores = Math.min(all.length, this.#cores);
    // A stream that has full effort keeps it while there is just enough room.
    const need = share - before + (before > 0 ? 0 : roomToSpare);
    // Silent streams continue to speak while a second search runs.
    const speaking = Math.max(process.liveDemand, process.sessions * this.liveDemand);
    const isOver =
      speaking + process.fullDemand + need > fullShareMax ||
      demandOf(all) + fullDemandOf(all) + need > fullShareMax * cores;
    const isLate = !process.isResponsive || process.liveLateMs > fullLateMsMax;
    return isOver || isLate || process.uncommittedSeconds(["short"]) > 0 ? 0 : share;
  }

  learn({ work, fullWork }: LoadReport): void {
    this.#fullCost?.learn(fullWork);
    this.#costs.live.learn(work.live);
    this.#costs.short.learn(work.short);
    this.#costs.job.learn(work.job);
  }

  /**
   * The number of live sessions that these processes can serve concurrently if all carry speech and
   * nothing else runs.
   */
  streamsMax(processes: readonly LoadedProcess[]): number {
    if (this.#sessionsMax !== undefined) return processes.length > 0 ? this.#sessionsMax : 0;
    const streams = Math.floor(this.#coresFor(processes) / this.liveDemand);
    return Math.max(processes.length > 0 ? 1 : 0, streams);
  }

  #coresFor(processes: readonly LoadedProcess[]): number {
    return liveCoresOf(processes, this.#cores);
  }

  /**
   * Returns the best process for a new session. Throws resource_exhausted if no process can serve
   * it in time. Jobs are never refused; they wait.
   */
  admit<P extends LoadedProcess>(mode: RecognitionMode, processes: readonly P[]): P | undefined {
    const best = this.choose(mode, processes);
    if (!best) return undefined;
    if (this.#sessionsMax !== undefined) {
      // The work is the server's: recordings wait in the process until it has room for them.
      if (mode === "live" && best.sessions >= this.#sessionsMax) throw streamsFull();
      return best;
    }
    if (mode === "live") this.#admitLive(best);
    if (mode === "short") this.#admitShort(best);
    return best;
  }

  /** Returns the process in which this mode waits least, whether or not the process has room. */
  choose<P extends LoadedProcess>(mode: RecognitionMode, processes: readonly P[]): P | undefined {
    const ranked = processes.map((process) => ({
      process,
      isSlow: isSlow(process),
      load: mode === "live" ? process.liveDemand : this.#queueMs(mode, process),
    }));
    ranked.sort(
      (a, b) => a.isSlow - b.isSlow || a.load - b.load || a.process.sessions - b.process.sessions,
    );
    return ranked[0]?.process;
  }

  /**
   * Returns how well this machine suits a session, for comparisons with other machines: for a live
   * one, the load of the machine with it; for a recording, how long it would wait.
   */
  rank(
    mode: RecognitionMode,
    processes: readonly LoadedProcess[],
  ): { readonly isSlow: number; readonly load: number } {
    const best = this.choose(mode, processes);
    if (!best) return { isSlow: 1, load: Infinity };
    if (mode !== "live") return { isSlow: isSlow(best), load: this.#queueMs(mode, best) };
    const all = this.#allProcesses();
    const load = (demandOf(all) + this.liveDemand) / this.#coresFor(all);
    return { isSlow: isSlow(best), load };
  }

  /** Whether the process cannot serve one more live session in time. */
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
    const all = this.#allProcesses();
    const need = this.liveDemand + (this.#isFull ? roomToSpare : 0);
    const cores = Math.min(all.length, this.#cores);
    const isOver =
      best.liveDemand + need > liveShareMax ||
      demandOf(all) + need > liveShareMax * cores ||
      best.liveLateMs > liveLateMsMax;
    // An idle machine always serves one stream, however slow the engine is.
    const isBusy = ({ liveDemand }: LoadedProcess) => liveDemand > roomToSpare;
    this.#isFull = isOver && (isBusy(best) || all.filter(isBusy).length >= cores);
    if (!this.#isFull) return;
    throw streamsFull();
  }

  #admitShort(best: LoadedProcess): void {
    const queueMs = this.#queueMs("short", best);
    if (queueMs <= queueMsMax) return;
    throw new ServiceError(
      "resource_exhausted",
      `the queue for short recordings is ${Math.round(queueMs / 1000)} s long (the limit is ${queueMsMax / 1000} s): try again later`,
      { reason: "QUEUE_FULL", retryAfterMs: Math.max(retryMs.short, queueMs - queueMsMax) },
    );
  }

  /**
   * How long a recording would wait in this process for earlier recordings of its own mode and of
   * more urgent modes.
   */
  #queueMs(mode: "short" | "job", process: LoadedProcess): number {
    const all = this.#allProcesses();
    const idleCores = Math.min(all.length, this.#cores) - demandOf(all);
    const share = Math.max(queueShareMin, Math.min(1 - process.liveDemand, idleCores));
    const shortSeconds = process.uncommittedSeconds(["short"]) * this.#costs.short.cpuPerAudio;
    const jobSeconds =
      mode === "job" ? process.uncommittedSeconds(["job"]) * this.#costs.job.cpuPerAudio : 0;
    return ((shortSeconds + jobSeconds) / share) * 1000;
  }
}

/** A process that fails has no load, and would be chosen for every session. */
function isSlow({ isResponsive, liveLateMs, isFailing = false }: LoadedProcess): number {
  if (isFailing) return 2;
  return Number(!isResponsive || liveLateMs > liveLateMsMax);
}

function streamsFull(): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    "no more live streams can be recognized in real time now; try again",
    { reason: "STREAMS_FULL", retryAfterMs: retryMs.live },
  );
}

function demandOf(processes: readonly LoadedProcess[]): number {
  return processes.reduce((sum, { liveDemand }) => sum + liveDemand, 0);
}

function fullDemandOf(processes: readonly LoadedProcess[]): number {
  return processes.reduce((sum, { fullDemand }) => sum + fullDemand, 0);
}

/** The measured CPU time per second of audio. */
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
