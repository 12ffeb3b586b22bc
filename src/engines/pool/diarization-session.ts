import { ServiceError } from "../../std/service-error.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import type { WindowSpeakers } from "../protocol/recognizer.ts";
import type { EngineChild } from "./engine-child.ts";
import { LiveDemand } from "./live-demand.ts";
import type { SessionClient } from "./session-client.ts";

/** A diarizer process ignores these options: it uses only the audio. */
const options: SessionOptions = {
  languageCode: "",
  mode: "job",
  sampleRateHertz: engineSampleRate,
  alternativesMax: 1,
  interim: false,
  silenceMsMin: 0,
  punctuation: true,
};

/**
 * Diarizes a window in a process with a diarization model. Throws a ServiceError with the code
 * unavailable if the process is lost.
 */
export async function diarizeIn(
  child: EngineChild,
  window: Int16Array,
  signal: AbortSignal,
): Promise<WindowSpeakers> {
  signal.throwIfAborted();
  const client = new DiarizationSession(window);
  const session = child.open(client, { options, isSuspect: false });
  const leave = () => child.leave(session);
  signal.addEventListener("abort", leave);
  try {
    await session.send(window);
    session.endInput();
    const end = await session.ended;
    signal.throwIfAborted();
    if (end.kind === "failed") throw end.error;
    if (client.found) return client.found;
    throw new ServiceError("unavailable", "the diarization process was lost; try again");
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

class DiarizationSession implements SessionClient {
  readonly mode = "job";
  readonly sampleRateHertz = engineSampleRate;
  readonly demand = new LiveDemand(0);
  readonly fullDemand = 0;
  readonly uncommittedSeconds: number;
  found: WindowSpeakers | undefined;

  constructor(window: Int16Array) {
    this.uncommittedSeconds = window.length / engineSampleRate;
  }

  speakers(speakers: WindowSpeakers): void {
    this.found = speakers;
  }

  interim(): void {}

  committed(): void {}

  progress(): void {}
}
