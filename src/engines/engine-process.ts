// The program of an engine process: recognises for the sessions that come through standard input until that ends.
import type { Engine } from "./engine.ts";
import {
  type Frame,
  FrameReader,
  FrameWriter,
  jsonPayload,
  type OpenSession,
  samplesOfBytes,
} from "./engine-frames.ts";
import { EngineSession, type SessionEvents } from "./engine-session.ts";
import { LoadMeter, type Metered } from "./load-meter.ts";
import { measureSpeech } from "./measure-speech.ts";
import { endUtterance } from "./recognizer.ts";
import { RunQueue, type Task } from "./run-queue.ts";

interface RunningSession {
  readonly session: EngineSession;
  readonly task: Task;
  readonly metered: Metered;
}

/** Live audio may be heard so far ahead of its time; after a replay, what was kept. */
const aheadSeconds = 2;
const suspectAheadSeconds = 40;
const [, , engineName = "", reportMs = ""] = process.argv;
const writer = new FrameWriter(process.stdout);
const queue = new RunQueue();
const sessions = new Map<number, RunningSession>();

// The service ends its engines when it has drained: a Ctrl-C for the whole process group is for the service alone.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.stdout.on("error", () => process.exit(1));
// Whoever started this process is gone, and nobody reads the answers any more.
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0));

const engines = await loadEngines(engineName);
const reader = new FrameReader();
process.stdin.on("data", (chunk: Buffer) => {
  for (const frame of reader.push(chunk)) take(frame);
});
let cpuPerSpeech = 0;
for (const engine of engines) {
  cpuPerSpeech = Math.max(cpuPerSpeech, await measureSpeech(engine, cpuMs));
}
writer.writeJson("ready", 0, {
  engines: engines.map(({ name, languageCodes }) => ({ name, languageCodes })),
  cpuPerSpeech,
});
const meter = new LoadMeter({ nowMs: () => performance.now(), cpuMs });
// Also the sign that this process works through what it is given (watchdog.ts).
setInterval(() => {
  writer.writeJson("load", 0, meter.report(queue.takeLiveWaits()));
}, Number(reportMs));

/** Of the thread that hears: what goes on beside it keeps nobody waiting. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** A process loads the code of its own engines only. */
async function loadEngines(choice: string): Promise<readonly Engine[]> {
  try {
    switch (choice) {
      case "auto":
      case "pocketsphinx": {
        const { openPocketsphinx } = await import("./pocketsphinx/pocketsphinx-engine.ts");
        return [await openPocketsphinx()];
      }
      case "scripted": {
        const { createScriptedEngine } = await import("./scripted-engine.ts");
        return [createScriptedEngine()];
      }
      default:
        throw new Error(`there is no engine ${choice}`);
    }
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
  const engine = engines.find(({ languageCodes }) => languageCodes.includes(options.languageCode));
  if (!engine) throw new Error(`no engine hears ${options.languageCode}`);
  let isWatched = isSuspect;
  const events: SessionEvents = {
    interim: (recognition) => writer.writeJson("interim", id, recognition),
    settled(settled) {
      isWatched = false;
      writer.writeJson("settled", id, settled);
    },
    heard: (samples) => writer.writeJson("heard", id, samples),
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
    // Who is heard faster than anybody speaks sends a recording, and takes its turns with recordings.
    rank() {
      const aheadMs = (session.heardSeconds - heardBefore) * 1000 - (performance.now() - openedMs);
      return options.mode === "live" && aheadMs > 0 ? "short" : options.mode;
    },
    step() {
      let hasMore = false;
      const isMarked = isWatched;
      if (isMarked) writer.writeNow("working", id);
      guard(id, () => (hasMore = session.step()));
      if (isMarked) writer.writeNow("working", 0);
      return hasMore && sessions.has(id);
    },
  };
  const metered: Metered = {
    id,
    mode: options.mode,
    busyMs: () => task.busyMs,
    heardSeconds: () => session.heardSeconds,
    queuedSeconds: () => session.takeLeastQueuedSeconds(),
    spokenSeconds: () => session.spokenSeconds,
  };
  sessions.set(id, { session, task, metered });
  meter.add(metered);
}

function close(id: number): void {
  const found = sessions.get(id);
  if (!found) return;
  sessions.delete(id);
  queue.remove(found.task);
  meter.remove(found.metered);
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
