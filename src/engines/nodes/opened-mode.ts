import type { RecognitionMode } from "../protocol/engine.ts";
import { isObject } from "./unchecked.ts";

const modes: ReadonlySet<unknown> = new Set(["live", "short", "job"]);

/**
 * Returns the mode of the session that an open frame of a client begins. Throws if its payload is
 * not one of an open frame.
 */
export function openedMode(payload: Buffer): RecognitionMode {
  const sent: unknown = JSON.parse(payload.toString());
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
  return mode;
}

function isMode(value: unknown): value is RecognitionMode {
  return modes.has(value);
}
