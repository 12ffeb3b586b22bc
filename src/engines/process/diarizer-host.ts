import { joinSamples } from "../../audio/join-samples.ts";
import {
  type Frame,
  type FrameWriter,
  jsonPayload,
  samplesOfBytes,
} from "../protocol/engine-frames.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { readOwnSigns } from "../protocol/process-signs.ts";
import type { Diarizer } from "../sherpa-onnx/diarizer.ts";
import { PendingWork } from "./pending-work.ts";
import type { ProcessHost } from "./process-host.ts";

interface Window {
  readonly chunks: Int16Array[];
  /** Whether a process crashed while it had the window, so that work on it is reported. */
  readonly isSuspect: boolean;
}

const noWork = { cpuSeconds: 0, audioSeconds: 0 };

/**
 * The sessions of a diarizer process. Each session is a window of a recording, which is diarized
 * when its input ends; windows are diarized one at a time.
 */
export class DiarizerHost implements ProcessHost {
  readonly ready = {
    engine: { name: "diarizer", languageCodes: [], takesHints: false, alignsWords: false },
    cpuPerSpeech: 0,
  };
  readonly #diarizer: Diarizer;
  readonly #writer: FrameWriter;
  readonly #windows = new Map<number, Window>();
  readonly #threadWork = new PendingWork(readOwnSigns);
  /** Resolves when all windows so far have been diarized. */
  #last = Promise.resolve();
  #reportedMs = performance.now();

  constructor(diarizer: Diarizer, writer: FrameWriter) {
    this.#diarizer = diarizer;
    this.#writer = writer;
  }

  receive({ kind, session: id, payload }: Frame): void {
    if (kind === "open") {
      const { isSuspect } = jsonPayload("open", { kind, session: id, payload });
      this.#windows.set(id, { chunks: [], isSuspect });
    } else if (kind === "close") this.#windows.delete(id);
    else if (kind === "audio") {
      // The samples are copied, since the frame's memory is reused.
      const samples = Int16Array.from(samplesOfBytes(payload));
      this.#windows.get(id)?.chunks.push(samples);
      this.#writer.writeJson("received", id, samples.length);
    } else if (kind === "endInput") {
      this.#last = this.#last.then(() => this.#diarize(id));
      this.#threadWork.add(this.#last);
    }
  }

  report(): LoadReport | undefined {
    const nowMs = performance.now();
    const seconds = (nowMs - this.#reportedMs) / 1000;
    this.#reportedMs = nowMs;
    if (this.#threadWork.isHung()) return undefined;
    return {
      seconds,
      live: [],
      busy: [...this.#windows.keys()],
      liveLateMs: 0,
      work: { live: noWork, short: noWork, job: noWork },
      fullWork: noWork,
    };
  }

  async #diarize(id: number): Promise<void> {
    const window = this.#windows.get(id);
    if (!window) return;
    const { chunks, isSuspect } = window;
    try {
      if (isSuspect) this.#writer.writeNow("working", id);
      const samples = joinSamples(chunks);
      chunks.length = 0;
      const { turns, speakers } = await this.#diarizer.diarize(samples);
      const plain = speakers.map(({ embedding, ...each }) => ({
        ...each,
        embedding: Array.from(embedding),
      }));
      this.#writer.writeJson("speakers", id, { turns, speakers: plain });
      this.#writer.write("done", id);
    } catch (error) {
      const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
      this.#writer.writeJson("error", id, { message, stack });
    } finally {
      this.#windows.delete(id);
      if (isSuspect) this.#writer.writeNow("working", 0);
    }
  }
}
