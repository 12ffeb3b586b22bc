import { ServiceError } from "../../std/service-error.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { EngineDescription } from "../protocol/engine-frames.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { Admission, type LoadedProcess } from "./admission.ts";
import type { Machine } from "./machine.ts";

/** A process on a machine. */
export interface PlacedProcess extends LoadedProcess {
  readonly machine: Machine;
  /** Whether the process accepts no new sessions, because its node is being stopped. */
  readonly isLeaving: boolean;
  /** The CPU seconds for a second of live speech, as measured when the model was loaded. */
  readonly cpuPerSpeech: number;
}

/** What the engine of a model says of the room that it has: see Admission. */
type EngineUse = Pick<EngineDescription, "fullEffort" | "sessionsMax">;

/**
 * Decides whether there is room for a session of one model, and in which process on which machine.
 * Each machine has an Admission of its own, since the same audio costs more on a slower machine.
 */
export class ModelAdmission {
  readonly #engine: EngineUse;
  readonly #here: Admission;
  readonly #machine: Machine;
  readonly #others = new WeakMap<Machine, Admission>();

  /** `machine` is this machine, where one second of live speech costs `cpuPerSpeech`. */
  constructor(machine: Machine, cpuPerSpeech: number, engine: EngineUse = {}) {
    this.#machine = machine;
    this.#engine = engine;
    this.#here = this.#admissionOn(machine, cpuPerSpeech);
  }

  /** Learns from a report of a process on this machine, or where `process` runs. */
  learnHere(report: LoadReport): void {
    this.#here.learn(report);
  }

  /** Returns the admission of the machine on which a process runs. */
  of({ machine, cpuPerSpeech }: PlacedProcess): Admission {
    if (machine === this.#machine) return this.#here;
    const known = this.#others.get(machine);
    if (known) return known;
    const created = this.#admissionOn(machine, cpuPerSpeech);
    this.#others.set(machine, created);
    return created;
  }

  /** Returns the share of a core that a live session is expected to need where a process runs. */
  demandOn(process: PlacedProcess): number {
    return this.of(process).liveDemand;
  }

  /** Returns the share of a core that a stream may use for full effort: see Admission. */
  fullDemand(process: PlacedProcess, before: number): number {
    return this.of(process).fullDemand(process, before);
  }

  /** The live sessions that these processes can serve at once: see Admission.streamsMax(). */
  streamsMax(processes: readonly PlacedProcess[]): number {
    const each = byMachine(processes).map((own) => this.of(own[0]).streamsMax(own));
    return each.reduce((sum, streams) => sum + streams, 0);
  }

  /**
   * Returns the best process for a new session. If its machine has no room, another one is tried;
   * if none has, throws the refusal of the best (Admission.admit()).
   */
  admit<P extends PlacedProcess>(mode: RecognitionMode, processes: readonly P[]): P | undefined {
    let refusal: ServiceError | undefined;
    for (const { admission, own } of this.#ranked(mode, processes)) {
      try {
        return admission.admit(mode, own);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        refusal ??= error;
      }
    }
    if (refusal) throw refusal;
    return undefined;
  }

  /** Returns the process in which this mode waits least, whether or not it has room. */
  choose<P extends PlacedProcess>(mode: RecognitionMode, processes: readonly P[]): P | undefined {
    const [best] = this.#ranked(mode, processes);
    return best?.admission.choose(mode, best.own);
  }

  /** Whether the process cannot serve one more live session in time. */
  isCrowded(client: Parameters<Admission["isCrowded"]>[0], process: PlacedProcess): boolean {
    return this.of(process).isCrowded(client, process);
  }

  #admissionOn({ cores, processes }: Machine, cpuPerSpeech: number): Admission {
    const { fullEffort, sessionsMax } = this.#engine;
    return new Admission(cores, cpuPerSpeech, processes, fullEffort, sessionsMax);
  }

  /** Returns the machines with their processes that accept sessions, the least loaded first. */
  #ranked<P extends PlacedProcess>(mode: RecognitionMode, processes: readonly P[]) {
    const machines = byMachine(processes.filter(({ isLeaving }) => !isLeaving));
    const ranked = machines.map((own) => ({ own, admission: this.of(own[0]) }));
    // The common case needs no ranks.
    if (ranked.length < 2) return ranked;
    return ranked
      .map((each) => ({ ...each, rank: each.admission.rank(mode, each.own) }))
      .toSorted((a, b) => a.rank.isSlow - b.rank.isSlow || a.rank.load - b.rank.load);
  }
}

function byMachine<P extends PlacedProcess>(processes: readonly P[]): [P, ...P[]][] {
  const machines = new Map<Machine, [P, ...P[]]>();
  for (const process of processes) {
    const own = machines.get(process.machine);
    if (own) own.push(process);
    else machines.set(process.machine, [process]);
  }
  return [...machines.values()];
}
