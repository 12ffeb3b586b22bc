import { type Span, startSpan } from "../../tracing/tracing.ts";
import { jsonPayload, type Frame } from "../protocol/engine-frames.ts";
import type { RecognitionMode } from "../protocol/engine.ts";

/**
 * The spans of a session on this engine node, in the trace of its client: one for a job's piece, an
 * alignment or a short recording, and one for each utterance of a live stream, which may last for
 * hours.
 */
export class SessionSpans {
  readonly #parent: string;
  readonly #attributes: Readonly<Record<string, string>>;
  readonly #whole: Span | undefined;
  #sinceMs = Date.now();

  constructor(parent: string, { mode, model }: { mode: RecognitionMode; model: string }) {
    this.#parent = parent;
    this.#attributes = { "hlust.model": model, "hlust.mode": mode };
    if (mode === "live") return;
    this.#whole = startSpan(`engine ${model}`, { parent, attributes: this.#attributes });
  }

  /** Takes what the process sends for the session. */
  take(frame: Frame): void {
    if (frame.kind === "done") this.#whole?.end();
    else if (frame.kind === "error") this.fail("engine_failed");
    else if (frame.kind === "committed" && !this.#whole) this.#endUtterance(frame);
  }

  /** Ends the session for another reason than its last result. */
  fail(reason: string): void {
    this.#whole?.fail(reason);
    this.#whole?.end();
  }

  #endUtterance(frame: Frame): void {
    const startMs = this.#sinceMs;
    this.#sinceMs = Date.now();
    const { final } = jsonPayload("committed", frame);
    // Silence is committed as well.
    if (!final) return;
    const [first] = final.alternatives[0]?.words ?? [];
    const ms = Math.max(0, final.audioEndMs - (first?.startMs ?? final.audioEndMs));
    startSpan("engine utterance", {
      parent: this.#parent,
      // Audio may be sent faster than it was spoken.
      startMs: Math.max(startMs, Date.now() - ms),
      attributes: { ...this.#attributes, "hlust.utterance_ms": Math.round(ms) },
    })?.end();
  }
}
