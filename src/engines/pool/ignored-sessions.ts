import type { LoadReport } from "../protocol/load-report.ts";
import { ChildSession } from "./child-session.ts";
import type { OpenedSession } from "./opened-session.ts";

/**
 * How long a process may send nothing for a session while it reports that it is not working on it.
 * What is sent is at the process after 5 s (nodes/node-protocol.ts, silentMsMax), but the process
 * may first have to read the recordings that were sent before: half a minute of each.
 */
const ignoredSecondsMax = 60;
/**
 * The same, if the process is of an earlier version and does not report on what it works: decoding
 * an utterance takes up to five minutes.
 */
const earlierSecondsMax = 600;
/** The silence after which new sessions go to another process, if there is one. */
const quietSecondsMax = 10;
/** What a report counts at most, since nothing was sent while the process was suspended. */
const reportSecondsMax = 1;

interface Silence {
  /** The frames of the session before the silence. */
  readonly frames: number;
  readonly seconds: number;
}

/**
 * Finds the sessions for which a process does nothing, although it reports its load. Only reports
 * are counted: whether there are any is watched elsewhere (watchdog.ts).
 */
export class IgnoredSessions {
  #silences: ReadonlyMap<ChildSession, Silence> = new Map();

  /** Takes a report. Returns the sessions that are to be continued elsewhere. */
  take(
    { busy, seconds }: Pick<LoadReport, "busy" | "seconds">,
    sessions: Iterable<OpenedSession>,
  ): readonly ChildSession[] {
    const isBusy = new Set(busy);
    const silences = new Map<ChildSession, Silence>();
    for (const session of sessions) {
      // The clients of an engine node watch their sessions themselves.
      if (!(session instanceof ChildSession) || !session.isAnswerDue) continue;
      if (isBusy.has(session.id)) continue;
      const { frames } = session;
      const before = this.#silences.get(session);
      const addedSeconds = Math.min(seconds, reportSecondsMax);
      const isSilent = before?.frames === frames;
      silences.set(session, { frames, seconds: isSilent ? before.seconds + addedSeconds : 0 });
    }
    this.#silences = silences;
    const secondsMax = busy ? ignoredSecondsMax : earlierSecondsMax;
    return [...silences].flatMap(([session, silence]) =>
      silence.seconds >= secondsMax ? session : [],
    );
  }

  /** Whether a session has waited for quietSecondsMax, so that new ones go elsewhere. */
  get isAnyQuiet(): boolean {
    return this.#silences
      .entries()
      .some(([{ isOver }, { seconds }]) => !isOver && seconds >= quietSecondsMax);
  }
}
