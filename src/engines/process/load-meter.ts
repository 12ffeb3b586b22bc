import type { RecognitionMode } from "../protocol/engine.ts";
import type { LoadReport, Work } from "../protocol/load-report.ts";
import type { LiveWaits } from "./run-queue.ts";

/** A session as the meter sees it: totals that only grow. */
export interface Metered {
  readonly id: number;
  readonly mode: RecognitionMode;
  readonly busyMs: () => number;
  readonly heardSeconds: () => number;
  /** Given and not heard yet. */
  readonly queuedSeconds: () => number;
  readonly spokenSeconds: () => number;
}

interface Reading {
  nowMs: number;
  busyMs: number;
  heardSeconds: number;
  spokenSeconds: number;
  /** Reports without speech: the final comes a little after it and still is its work. */
  quietReports: number;
}

const quietReportsMax = 3;
/**
 * Who is heard faster than this many times its speech sends recordings: what it has waiting is not
 * late.
 */
const pacedMax = 1.1;

/** Measures what the sessions of an engine process cost it. */
export class LoadMeter {
  readonly #clock: { readonly nowMs: () => number; readonly cpuMs: () => number };
  readonly #sessions = new Map<Metered, Reading>();
  #nowMs: number;
  #cpuMs: number;
  /** Time of sessions that ended since the last report. */
  #endedBusyMs = 0;
  #work = noWork();

  constructor(clock: { readonly nowMs: () => number; readonly cpuMs: () => number }) {
    this.#clock = clock;
    this.#nowMs = clock.nowMs();
    this.#cpuMs = clock.cpuMs();
  }

  add(session: Metered): void {
    this.#sessions.set(session, {
      nowMs: this.#clock.nowMs(),
      busyMs: session.busyMs(),
      heardSeconds: session.heardSeconds(),
      spokenSeconds: session.spokenSeconds(),
      quietReports: quietReportsMax,
    });
  }

  remove(session: Metered): void {
    const reading = this.#sessions.get(session);
    if (!reading) return;
    this.#endedBusyMs += this.#read(session, reading).busyMs;
    this.#sessions.delete(session);
  }

  report(waits: LiveWaits): LoadReport {
    const seconds = Math.max(0.001, (this.#clock.nowMs() - this.#nowMs) / 1000);
    const cpuMs = this.#clock.cpuMs() - this.#cpuMs;
    const read = Array.from(this.#sessions, ([session, reading]) => ({
      session,
      ...this.#read(session, reading),
    }));
    const busyMs = read.reduce((sum, each) => sum + each.busyMs, this.#endedBusyMs);
    // On a machine that is busy elsewhere a slice takes longer than its work; reading and writing
    // is work beside the slices.
    const cpuPerBusy = busyMs > 0 ? cpuMs / busyMs : 0;
    const live = read
      .filter(({ session }) => session.mode === "live")
      .map((each) => {
        const needSeconds = Math.max(each.seconds, each.heardSeconds);
        return [each.session.id, (each.busyMs * cpuPerBusy) / 1000 / needSeconds] as const;
      });
    const paced = read.filter(
      (each) =>
        each.session.mode === "live" &&
        each.heardSeconds > 0 &&
        each.heardSeconds <= pacedMax * each.seconds,
    );
    const queued = paced.reduce((sum, { session }) => sum + session.queuedSeconds(), 0);
    const queuedMs = (queued * 1000) / Math.max(1, paced.length);
    const report: LoadReport = {
      seconds,
      live,
      liveLateMs: Math.max(waits.count > 0 ? waits.totalMs / waits.count : 0, queuedMs),
      work: {
        live: scaled(this.#work.live, cpuPerBusy),
        short: scaled(this.#work.short, cpuPerBusy),
        job: scaled(this.#work.job, cpuPerBusy),
      },
    };
    this.#nowMs += seconds * 1000;
    this.#cpuMs += cpuMs;
    this.#endedBusyMs = 0;
    this.#work = noWork();
    return report;
  }

  /** What is new since the last reading. */
  #read(
    session: Metered,
    reading: Reading,
  ): { seconds: number; busyMs: number; heardSeconds: number } {
    const nowMs = this.#clock.nowMs();
    const seconds = Math.max(0.001, (nowMs - reading.nowMs) / 1000);
    reading.nowMs = nowMs;
    const busyMs = session.busyMs() - reading.busyMs;
    const heardSeconds = session.heardSeconds() - reading.heardSeconds;
    const spokenSeconds = session.spokenSeconds() - reading.spokenSeconds;
    reading.busyMs += busyMs;
    reading.heardSeconds += heardSeconds;
    reading.spokenSeconds += spokenSeconds;
    reading.quietReports = spokenSeconds > 0 ? 0 : reading.quietReports + 1;
    const isLive = session.mode === "live";
    if (!isLive || reading.quietReports < quietReportsMax) {
      const work = this.#work[session.mode];
      work.busyMs += busyMs;
      work.audioSeconds += isLive ? spokenSeconds : heardSeconds;
    }
    return { seconds, busyMs, heardSeconds };
  }
}

interface MeasuredWork {
  busyMs: number;
  audioSeconds: number;
}

function noWork(): Record<RecognitionMode, MeasuredWork> {
  const none = () => ({ busyMs: 0, audioSeconds: 0 });
  return { live: none(), short: none(), job: none() };
}

function scaled({ busyMs, audioSeconds }: MeasuredWork, cpuPerBusy: number): Work {
  return { cpuSeconds: (busyMs * cpuPerBusy) / 1000, audioSeconds };
}
