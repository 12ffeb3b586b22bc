import type { RecognitionMode } from "../protocol/engine.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import type { OpenedSession } from "./opened-session.ts";

/** The time constant of the mean delay of live audio. */
const lateSeconds = 3;

/** The use of a process of an engine node by other clients of that node. */
export interface UseByOthers {
  readonly sessions: number;
  readonly liveDemand: number;
  readonly fullDemand: number;
  readonly seconds: Readonly<Record<RecognitionMode, number>>;
}

export const noUse: UseByOthers = {
  sessions: 0,
  liveDemand: 0,
  fullDemand: 0,
  seconds: { live: 0, short: 0, job: 0 },
};

/** What the sessions of an engine process need, as the process has measured it. */
export class ChildLoad {
  /** What others do with the process. */
  others = noUse;
  readonly #sessions: ReadonlyMap<number, OpenedSession>;
  #liveLateMs = 0;

  /** `sessions` are those of this service, or of the clients of this engine node. */
  constructor(sessions: ReadonlyMap<number, OpenedSession>) {
    this.#sessions = sessions;
  }

  get sessions(): number {
    return this.#sessions.size + this.others.sessions;
  }

  /** The share of a core that the live sessions of the process need. */
  get liveDemand(): number {
    return this.#sessions
      .values()
      .reduce(
        (sum, { client }) => sum + (client.mode === "live" ? client.demand.share : 0),
        this.others.liveDemand,
      );
  }

  /** The share of a core that the live sessions of the process need for full effort. */
  get fullDemand(): number {
    const own = this.#sessions.values().reduce((sum, { client }) => sum + client.fullDemand, 0);
    return own + this.others.fullDemand;
  }

  /** The mean delay between the arrival of live audio and its processing. */
  get liveLateMs(): number {
    const hasLive = this.#sessions.values().some(({ client }) => client.mode === "live");
    return hasLive || this.others.liveDemand > 0 ? this.#liveLateMs : 0;
  }

  /** The seconds of audio that sessions of these modes have sent and that no commit covers. */
  uncommittedSeconds(modes: readonly RecognitionMode[]): number {
    const ofOthers = modes.reduce((sum, mode) => sum + this.others.seconds[mode], 0);
    return this.#sessions
      .values()
      .filter(({ client }) => modes.includes(client.mode))
      .reduce((sum, { client }) => sum + client.uncommittedSeconds, ofOthers);
  }

  /** What this service does with the process, for other clients of its node. */
  get ownUse(): UseByOthers {
    const { others } = this;
    const secondsOf = (mode: RecognitionMode) =>
      this.uncommittedSeconds([mode]) - others.seconds[mode];
    return {
      sessions: this.#sessions.size,
      liveDemand: this.liveDemand - others.liveDemand,
      fullDemand: this.fullDemand - others.fullDemand,
      seconds: { live: secondsOf("live"), short: secondsOf("short"), job: secondsOf("job") },
    };
  }

  /** Takes the measurements of a report. */
  measure(report: LoadReport): void {
    for (const [id, share] of report.live) {
      this.#sessions.get(id)?.client.demand.measured(share, report.seconds);
    }
    const weight = 1 - Math.exp(-report.seconds / lateSeconds);
    this.#liveLateMs += weight * (report.liveLateMs - this.#liveLateMs);
  }
}
