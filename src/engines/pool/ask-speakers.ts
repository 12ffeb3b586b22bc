import { ServiceError } from "../../std/service-error.ts";
import type { SessionOwner } from "./child-session.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import type { EngineChild } from "./engine-child.ts";
import { LiveDemand } from "./live-demand.ts";
import type { WindowSpeakers } from "../protocol/recognizer.ts";

/**
 * Has a window heard by a process that tells speakers apart. Throws ServiceError: unavailable when
 * the process is lost.
 */
export async function askSpeakers(
  child: EngineChild,
  window: Int16Array,
  signal: AbortSignal,
): Promise<WindowSpeakers> {
  signal.throwIfAborted();
  let found: WindowSpeakers | undefined;
  const owner: SessionOwner = {
    mode: "job",
    sampleRateHertz: engineSampleRate,
    demand: new LiveDemand(0),
    unsettledSeconds: () => window.length / engineSampleRate,
    interim() {},
    settled() {},
    speakers: (speakers) => (found = speakers),
  };
  const session = child.open(owner, {
    options: {
      languageCode: "",
      mode: "job",
      sampleRateHertz: engineSampleRate,
      alternativesMax: 1,
      interim: false,
      silenceMsMin: 0,
      punctuation: true,
    },
    isSuspect: false,
  });
  const leave = () => child.leave(session);
  signal.addEventListener("abort", leave);
  try {
    await session.send(window);
    session.endInput();
    const end = await session.ended;
    signal.throwIfAborted();
    if (end.kind === "failed") throw end.error;
    if (found) return found;
    throw new ServiceError("unavailable", "the process that tells speakers apart was lost");
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
