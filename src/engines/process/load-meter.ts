import type { FullWork, RecognitionMode } from "../protocol/engine.ts";
import type { LoadReport, Work } from "../protocol/load-report.ts";
import type { LiveWaits } from "./run-queue.ts";

/** The cumulative totals of a session. */
export interface MeteredSession {
  readonly id: number;
  readonly mode: RecognitionMode;
  /** The time spent on the session's work, on this thread and on others. */
  readonly workMs: number;
  readonly processedSeconds: number;
  readonly spokenSeconds: number;
  /** The part of the work that is the additional work of full effort. */
  readonly fullWork: FullWork;
  /**
   * Returns the minimum, since the last call, of the seconds of audio that wait to be processed.
   */
  takeLeastQueuedSeconds(): number;
}

interface Reading {
  nowMs: number;
  workMs: number;
  processedSeconds: number;
  spokenSeconds: number;
  fullWork: FullWork;
  /**
   * The number of reports since the session's last speech: the work on the final result follows a
   * little later.
   */
  quietReports: number;
}

const quietReportsMax = 3;
/**
 * The maximum processing speed, relative to real time, of a session whose waiting audio can be
 * late. A faster session sends a recording.
 */
const pacedMax = 1.1;

/** Measures what each session costs an engine process. */
export class LoadMeter {
  readonly #clock: { readonly nowMs: () => number; readonly cpuMs: () => number };
  readonly #sessions = new Map<MeteredSession, Reading>();
  #nowMs: number;
  #cpuMs: number;
  /** The work of sessions that ended since the last report. */
  #endedWorkMs = 0;
  #work = noWork();
  #fullWork: MeasuredWork = { workMs: 0, audioSeconds: 0 };

  constructor(clock: { readonly nowMs: () => number; readonly cpuMs: () => number }) {
    this.#clock = clock;
    this.#nowMs = clock.nowMs();
    this.#cpuMs = clock.cpuMs();
  }

  add(session: MeteredSession): void {
    this.#sessions.set(session, {
      nowMs: this.#clock.nowMs(),
      workMs: session.workMs,
      processedSeconds: session.processedSeconds,
      spokenSeconds: session.spokenSeconds,
      fullWork: session.fullWork,
      quietReports: quietReportsMax,
    });
  }

  remove(session: MeteredSession): void {
    const reading = this.#sessions.get(session);
    if (!reading) return;
    this.#endedWorkMs += this.#read(session, reading).workMs;
    this.#sessions.delete(session);
  }

  report(waits: LiveWaits): LoadReport {
    const seconds = Math.max(0.001, (this.#clock.nowMs() - this.#nowMs) / 1000);
    const cpuMs = this.#clock.cpuMs() - this.#cpuMs;
    const read = Array.from(this.#sessions, ([session, reading]) => ({
      session,
      ...this.#read(session, reading),
    }));
    const workMs = read.reduce((sum, each) => sum + each.workMs, this.#endedWorkMs);
    // On a busy machine a slice takes longer than its CPU time. Reading from and writing to the
    // pipe is work outside the slices.
    const cpuPerWork = workMs > 0 ? cpuMs / workMs : 0;
    const live = read
      .filter(({ session }) => session.mode === "live")
      .map((each) => {
        const needSeconds = Math.max(each.seconds, each.processedSeconds);
        return [each.session.id, (each.ordinaryMs * cpuPerWork) / 1000 / needSeconds] as const;
      });
    const paced = read.filter(
      (each) =>
        each.session.mode === "live" &&
        each.processedSeconds > 0 &&
        each.processedSeconds <= pacedMax * each.seconds,
    );
    const queued = paced.reduce((sum, { session }) => sum + session.takeLeastQueuedSeconds(), 0);
    const queuedMs = (queued * 1000) / Math.max(1, paced.length);
    const report: LoadReport = {
      seconds,
      live,
      liveLateMs: Math.max(waits.count > 0 ? waits.totalMs / waits.count : 0, queuedMs),
      work: {
        live: scaled(this.#work.live, cpuPerWork),
        short: scaled(this.#work.short, cpuPerWork),
        job: scaled(this.#work.job, cpuPerWork),
      },
      fullWork: scaled(this.#fullWork, cpuPerWork),
    };
    this.#nowMs += seconds * 1000;
    this.#cpuMs += cpuMs;
    this.#endedWorkMs = 0;
    this.#work = noWork();
    this.#fullWork = { workMs: 0, audioSeconds: 0 };
    return report;
  }

  /** Returns the increase since the last reading. */
  #read(
    session: MeteredSession,
    reading: Reading,
  ): { seconds: number; workMs: number; ordinaryMs: number; processedSeconds: number } {
    const nowMs = this.#clock.nowMs();
    const seconds = Math.max(0.001, (nowMs - reading.nowMs) / 1000);
    reading.nowMs = nowMs;
    const workMs = session.workMs - reading.workMs;
    const processedSeconds = session.processedSeconds - reading.processedSeconds;
    const spokenSeconds = session.spokenSeconds - reading.spokenSeconds;
    const { fullWork } = session;
    const fullMs = fullWork.workMs - reading.fullWork.workMs;
    this.#fullWork.workMs += fullMs;
    this.#fullWork.audioSeconds += fullWork.audioSeconds - reading.fullWork.audioSeconds;
    // The two times are measured separately.
    const ordinaryMs = Math.max(0, workMs - fullMs);
    reading.fullWork = fullWork;
    reading.workMs += workMs;
    reading.processedSeconds += processedSeconds;
    reading.spokenSeconds += spokenSeconds;
    reading.quietReports = spokenSeconds > 0 ? 0 : reading.quietReports + 1;
    const isLive = session.mode === "live";
    if (!isLive || reading.quietReports < quietReportsMax) {
      const work = this.#work[session.mode];
      work.workMs += ordinaryMs;
      work.audioSeconds += isLive ? spokenSeconds : processedSeconds;
    }
    return { seconds, workMs, ordinaryMs, processedSeconds };
  }
}

interface MeasuredWork {
  workMs: number;
  audioSeconds: number;
}

function noWork(): Record<RecognitionMode, MeasuredWork> {
  const none = () => ({ workMs: 0, audioSeconds: 0 });
  return { live: none(), short: none(), job: none() };
}

function scaled({ workMs, audioSeconds }: MeasuredWork, cpuPerWork: number): Work {
  return { cpuSeconds: (workMs * cpuPerWork) / 1000, audioSeconds };
}
