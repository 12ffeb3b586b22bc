// The program of a process that tells speakers apart: a session is a window of a recording,
// answered when its input ends.
import { constants, setPriority } from "node:os";
import {
  type Frame,
  FrameReader,
  FrameWriter,
  jsonPayload,
  samplesOfBytes,
} from "../protocol/engine-frames.ts";
import { checkNativeFiles } from "../../models/check-model-files.ts";
import { PendingWork } from "./pending-work.ts";
import { readOwnSigns } from "../protocol/process-signs.ts";
import { parseNamedCard, readCardText } from "../../models/models-folder.ts";
import type { Diarizer } from "../sherpa-onnx/diarizer.ts";

const [, , source = "", reportMs = ""] = process.argv;
const writer = new FrameWriter(process.stdout);
/** Samples of each session. */
const windows = new Map<number, Int16Array[]>();
const pending = new PendingWork(readOwnSigns);
/** One window is heard at a time. */
let hearing = Promise.resolve();

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.stdout.on("error", () => process.exit(1));
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0));
// Nobody waits for it: words come first.
setPriority(constants.priority.PRIORITY_LOW);

const diarizer = await load();
const reader = new FrameReader();
process.stdin.on("data", (chunk: Buffer) => {
  for (const frame of reader.push(chunk)) take(frame);
});
writer.writeJson("ready", 0, {
  engine: { name: "diarizer", languageCodes: [], takesHints: false },
  cpuPerSpeech: 0,
});
setInterval(() => {
  if (pending.looksHung()) return;
  const none = { cpuSeconds: 0, audioSeconds: 0 };
  const work = { live: none, short: none, job: none };
  writer.writeJson("load", 0, { seconds: Number(reportMs) / 1000, live: [], liveLateMs: 0, work });
}, Number(reportMs));

async function load(): Promise<Diarizer> {
  try {
    const { folder }: { folder: string } = JSON.parse(source);
    const { openDiarizer } = await import("../sherpa-onnx/diarizer.ts");
    const card = parseNamedCard(await readCardText(folder));
    await checkNativeFiles(folder, card.files);
    return await openDiarizer(card, folder);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    writer.writeJson("failed", 0, { message });
    writer.flush();
    process.stdout.end(() => process.exit(1));
    return new Promise(() => {});
  }
}

function take(frame: Frame): void {
  const { kind, session: id } = frame;
  if (kind === "open") {
    jsonPayload("open", frame);
    windows.set(id, []);
  } else if (kind === "close") windows.delete(id);
  else if (kind === "audio") {
    // The frame's memory is used again.
    const samples = Int16Array.from(samplesOfBytes(frame.payload));
    windows.get(id)?.push(samples);
    writer.writeJson("heard", id, samples.length);
  } else if (kind === "endInput") {
    hearing = hearing.then(() => hear(id));
    pending.add(hearing);
  }
}

async function hear(id: number): Promise<void> {
  const chunks = windows.get(id);
  if (!chunks) return;
  try {
    const samples = joinSamples(chunks);
    chunks.length = 0;
    const { turns, speakers } = await diarizer.diarize(samples);
    const plain = speakers.map(({ embedding, ...each }) => ({
      ...each,
      embedding: Array.from(embedding),
    }));
    writer.writeJson("speakers", id, { turns, speakers: plain });
    writer.write("done", id);
  } catch (error) {
    const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    writer.writeJson("error", id, { message, stack });
  } finally {
    windows.delete(id);
  }
}

function joinSamples(chunks: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
