// The program of an engine process: loads one model, and recognizes for the sessions that come
// through standard input until that ends.
import type { Engine } from "../protocol/engine.ts";
import {
  type Frame,
  FrameReader,
  FrameWriter,
  jsonPayload,
  type OpenSession,
  samplesOfBytes,
} from "../protocol/engine-frames.ts";
import { openEngine } from "./open-engine.ts";
import { EngineSession, type SessionEvents } from "./engine-session.ts";
import { LoadMeter, type Metered } from "./load-meter.ts";
import { engineCpuMs, measureSpeech } from "./measure-speech.ts";
import { endUtterance } from "../protocol/recognizer.ts";
import { PendingWork } from "./pending-work.ts";
import { readOwnSigns } from "../protocol/process-signs.ts";
import { RunQueue, type Task } from "./run-queue.ts";
import { openTurnLength } from "./turn-length.ts";

interface RunningSession {
  readonly session: EngineSession;
  readonly task: Task;
  readonly metered: Metered;
  /** Its work goes on elsewhere since then: that is time of its as well. */
  awaySinceMs: number | undefined;
}

/** Live audio may be heard so far ahead of its time; after a replay, what was kept. */
const aheadSeconds = 2;
const suspectAheadSeconds = 40;
const [, , source = "", reportMs = ""] = process.argv;
const writer = new FrameWriter(process.stdout);
const queue = new RunQueue();
const sessions = new Map<number, RunningSession>();
/**
 * The suspect session that is being worked on, here or elsewhere: one at a time, or nobody knew
 * which of them the process died of.
 */
let inHand: { readonly id: number; readonly over: PromiseWithResolvers<void> } | undefined;

// The service ends its engines when it has drained: a Ctrl-C for the whole process group is for the
// service alone.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.stdout.on("error", () => process.exit(1));
// Whoever started this process is gone, and nobody reads the answers any more.
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0));

const { engine, cpuPerSpeech } = await load();
const reader = new FrameReader();
process.stdin.on("data", (chunk: Buffer) => {
  for (const frame of reader.push(chunk)) take(frame);
});
const { name, languageCodes, takesHints } = engine;
writer.writeJson("ready", 0, {
  engine: { name, languageCodes, takesHints },
  cpuPerSpeech,
});
/** Of all its threads: a promise does not tell whether anything comes of it. */
const elsewhere = new PendingWork(readOwnSigns);
/**
 * Where other threads do the work, they have the turns of everybody, and this one hands it to them.
 */
const askForLongTurns = engine.usesThreads ? () => {} : openTurnLength();
const meter = new LoadMeter({ nowMs: () => performance.now(), cpuMs: () => engineCpuMs(engine) });
// Also the sign that this process works through what it is given (watchdog.ts).
setInterval(() => {
  const report = meter.report(queue.takeLiveWaits());
  if (!elsewhere.looksHung()) writer.writeJson("load", 0, report);
}, Number(reportMs));

/** Loads the engine and hears something with it: what cannot be heard with is of no use. */
async function load(): Promise<{ engine: Engine; cpuPerSpeech: number }> {
  try {
    const loaded = await openEngine(JSON.parse(source));
    return { engine: loaded, cpuPerSpeech: await measureSpeech(loaded) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    writer.writeJson("failed", 0, { message });
    writer.flush();
    process.stdout.end(() => process.exit(1));
    return new Promise(() => {});
  }
}

function take(frame: Frame): void {
  const { kind, session: id, payload } = frame;
  if (kind === "open") {
    guard(id, () => open(id, jsonPayload("open", frame)));
    return;
  }
  const found = sessions.get(id);
  // Frames may be on their way to a session that has just failed.
  if (!found) return;
  if (kind === "close") {
    close(id);
    return;
  }
  if (kind === "audio") found.session.push(samplesOfBytes(payload));
  else if (kind === "endUtterance") found.session.push(endUtterance);
  else if (kind === "endInput") found.session.endInput();
  queue.wake(found.metered.mode, found.task);
}

function open(id: number, { options, checkpoint, isSuspect }: OpenSession): void {
  let isWatched = isSuspect;
  const events: SessionEvents = {
    interim: (recognition) => writer.writeJson("interim", id, recognition),
    settled(settled) {
      isWatched = false;
      writer.writeJson("settled", id, settled);
    },
    heard: (samples) => writer.writeJson("heard", id, samples),
    recognized: (samples) => writer.writeJson("recognized", id, samples),
    done() {
      writer.write("done", id);
      close(id);
    },
  };
  const session = new EngineSession(engine, options, events, checkpoint);
  const openedMs = performance.now() - 1000 * (isSuspect ? suspectAheadSeconds : aheadSeconds);
  const heardBefore = session.heardSeconds;
  const task: Task = {
    busyMs: 0,
    // Who is heard faster than anybody speaks sends a recording, and takes its turns with
    // recordings.
    rank() {
      const aheadMs = (session.heardSeconds - heardBefore) * 1000 - (performance.now() - openedMs);
      return options.mode === "live" && aheadMs > 0 ? "short" : options.mode;
    },
    step() {
      if (isWatched && inHand && inHand.id !== id) {
        wakeAfter(inHand.over.promise, id);
        return false;
      }
      if (isWatched) takeInHand(id);
      let pause: boolean | Promise<void> = false;
      guard(id, () => {
        pause = session.step();
      });
      return goOn(id, pause);
    },
  };
  const metered: Metered = {
    id,
    mode: options.mode,
    busyMs() {
      const { awaySinceMs } = running;
      return task.busyMs + (awaySinceMs === undefined ? 0 : performance.now() - awaySinceMs);
    },
    heardSeconds: () => session.heardSeconds,
    queuedSeconds: () => session.takeLeastQueuedSeconds(),
    spokenSeconds: () => session.spokenSeconds,
  };
  const running: RunningSession = { session, task, metered, awaySinceMs: undefined };
  sessions.set(id, running);
  meter.add(metered);
  chooseTurns();
}

/** Nobody waits for a slice of a job, unlike for whoever comes beside it. */
function chooseTurns(): void {
  askForLongTurns(
    sessions.size > 0 && sessions.values().every(({ metered }) => metered.mode === "job"),
  );
}

function takeInHand(id: number): void {
  inHand ??= { id, over: Promise.withResolvers() };
  writer.writeNow("working", id);
}

function layDown(id: number): void {
  if (inHand?.id !== id) return;
  writer.writeNow("working", 0);
  inHand.over.resolve();
  inHand = undefined;
}

/** After a slice; whether there is another one at once. */
function goOn(id: number, pause: boolean | Promise<void>): boolean {
  if (typeof pause === "boolean" || !sessions.has(id)) {
    layDown(id);
    return pause === true && sessions.has(id);
  }
  const found = sessions.get(id);
  elsewhere.add(pause);
  if (found) found.awaySinceMs ??= performance.now();
  const rest = () => {
    if (found?.awaySinceMs !== undefined) {
      found.task.busyMs += performance.now() - found.awaySinceMs;
      found.awaySinceMs = undefined;
    }
    layDown(id);
  };
  pause.then(rest, rest);
  wakeAfter(pause, id);
  return false;
}

/** A session's work goes on elsewhere until then. */
function wakeAfter(elsewhere: Promise<void>, id: number): void {
  elsewhere.then(
    () => {
      const found = sessions.get(id);
      if (found) queue.wake(found.metered.mode, found.task);
    },
    (error: unknown) => {
      guard(id, () => {
        throw error;
      });
    },
  );
}

function close(id: number): void {
  const found = sessions.get(id);
  if (!found) return;
  sessions.delete(id);
  queue.remove(found.task);
  meter.remove(found.metered);
  chooseTurns();
  layDown(id);
  // Not from within its own work.
  setImmediate(() => found.session.close());
}

/** What goes wrong in one session ends that one. */
function guard(id: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    writer.writeJson("error", id, { message, stack });
    close(id);
  }
}
