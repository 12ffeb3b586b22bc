import type { Kysely } from "kysely";
import type { Tables } from "../../database/tables.ts";
import type { AlignedWindow } from "../../engines/protocol/alignment.ts";
import { joinUtterances, utterancesOf } from "../../engines/protocol/kept-outputs.ts";
import { readOutputs, type RecordingOutputs } from "../../media/media-outputs.ts";
import type { AlignableRecording } from "./align-recording.ts";

/**
 * A recording whose outputs were kept when a job recognized it: its words are aligned without its
 * samples. Windows may overlap; their outputs are read again.
 */
export class KeptRecording implements AlignableRecording {
  readonly #db: Kysely<Tables>;
  readonly #outputs: RecordingOutputs;

  constructor(db: Kysely<Tables>, outputs: RecordingOutputs) {
    this.#db = db;
    this.#outputs = outputs;
  }

  get heldUntilMs(): number {
    return this.#outputs.durationMs;
  }

  async reaches(ms: number): Promise<boolean> {
    return Promise.resolve(ms < this.#outputs.durationMs);
  }

  /** Throws DamagedOutputs if the stored outputs are damaged or were deleted. */
  async window(startMs: number, endMs: number): Promise<AlignedWindow> {
    const { model, durationMs } = this.#outputs;
    const fromMs = Math.min(durationMs, Math.round(startMs));
    const section = { startMs: fromMs, endMs: Math.min(durationMs, Math.round(endMs)) };
    const parts = await readOutputs(this.#db, this.#outputs, section);
    const utterances = parts.flatMap((part) =>
      utterancesOf(part.bytes).map(({ startMs: atMs, bytes }) => ({
        startMs: part.startMs + atMs - fromMs,
        bytes,
      })),
    );
    return { model, bytes: joinUtterances(utterances), windowMs: section.endMs - fromMs };
  }

  drop(): void {}

  async drain(): Promise<number> {
    return Promise.resolve(this.#outputs.durationMs);
  }
}
