// The program of an engine process: recognises for the sessions that come through standard input until that ends.
import type { Engine } from "./engine.ts";
import {
  type Frame,
  FrameReader,
  FrameWriter,
  jsonPayload,
  samplesOfBytes,
  type SessionOptions,
} from "./engine-frames.ts";
import { EngineSession } from "./engine-session.ts";
import { openPocketsphinx } from "./pocketsphinx/pocketsphinx-engine.ts";
import { endUtterance } from "./recognizer.ts";
import { RunQueue, type Task } from "./run-queue.ts";
import { createScriptedEngine } from "./scripted-engine.ts";

interface OpenSession {
  readonly session: EngineSession;
  readonly task: Task;
  readonly options: SessionOptions;
}

const writer = new FrameWriter(process.stdout);
const queue = new RunQueue();
const sessions = new Map<number, OpenSession>();

// The service ends its engines when it has drained: a Ctrl-C for the whole process group is for the service alone.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.stdout.on("error", () => process.exit(1));
// Whoever started this process is gone, and nobody reads the answers any more.
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0));

const engines = await loadEngines(process.argv[2] ?? "");
const reader = new FrameReader();
process.stdin.on("data", (chunk: Buffer) => {
  for (const frame of reader.push(chunk)) take(frame);
});
writer.writeJson(
  "ready",
  0,
  engines.map(({ name, languageCodes }) => ({ name, languageCodes })),
);

async function loadEngines(choice: string): Promise<readonly Engine[]> {
  try {
    switch (choice) {
      case "auto":
      case "pocketsphinx":
        return [await openPocketsphinx()];
      case "scripted":
        return [createScriptedEngine()];
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
  queue.wake(found.options.mode, found.task);
}

function open(id: number, options: SessionOptions): void {
  const engine = engines.find(({ languageCodes }) => languageCodes.includes(options.languageCode));
  if (!engine) throw new Error(`no engine hears ${options.languageCode}`);
  const session = new EngineSession(engine, options, {
    result: (recognition) => writer.writeJson("result", id, recognition),
    heard: (samples) => writer.writeJson("heard", id, samples),
    done() {
      writer.write("done", id);
      close(id);
    },
  });
  const task = {
    step() {
      let hasMore = false;
      guard(id, () => (hasMore = session.step()));
      return hasMore && sessions.has(id);
    },
  };
  sessions.set(id, { session, task, options });
}

function close(id: number): void {
  const found = sessions.get(id);
  if (!found) return;
  sessions.delete(id);
  queue.remove(found.options.mode, found.task);
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
