import type { RecognitionMode } from "../protocol/engine.ts";
import { isObject, parseJson } from "./unchecked.ts";

const modes: ReadonlySet<unknown> = new Set(["live", "short", "job"]);

/** The form of a traceparent (W3C Trace Context). */
const traceparentForm = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What an engine node reads of an open frame, which it passes on. */
export interface OpenedFrame {
  readonly mode: RecognitionMode;
  /** The place in the trace of the client; undefined if it has none, or is an earlier version. */
  readonly traceparent: string | undefined;
}

/**
 * Returns the mode and the trace of the session that an open frame of a client begins. Throws if
 * its payload is not one of an open frame.
 */
export function openedFrame(payload: Buffer): OpenedFrame {
  const sent: unknown = parseJson(payload);
  const options = isObject(sent) ? sent["options"] : undefined;
  if (!isObject(sent) || !isObject(options) || typeof sent["isSuspect"] !== "boolean") {
    throw new Error("an open frame must have options");
  }
  const { mode, sampleRateHertz } = options;
  if (!isMode(mode)) throw new Error("an open frame must have a mode");
  const isRate = Number.isInteger(sampleRateHertz) && Number(sampleRateHertz) >= 8_000;
  if (!isRate || Number(sampleRateHertz) > 48_000) {
    throw new Error("an open frame must have a sample rate from 8000 to 48000");
  }
  const { traceparent } = sent;
  const isTraced = typeof traceparent === "string" && traceparentForm.test(traceparent);
  return { mode, traceparent: isTraced ? traceparent : undefined };
}

function isMode(value: unknown): value is RecognitionMode {
  return modes.has(value);
}
