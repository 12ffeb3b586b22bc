import { type ReadyProcess, jsonPayload } from "../protocol/engine-frames.ts";
import type { DiarizerSource, EngineSource } from "../protocol/engine-source.ts";
import { openChildLink } from "./child-link.ts";
import { EngineChild } from "./engine-child.ts";
import { type EngineChildOptions, reportMsFor } from "./engine-child-options.ts";

/**
 * The time within which an engine process must be ready: large models are read from slow disks.
 */
const loadMsMax = 180_000;

export interface StartOptions extends EngineChildOptions {
  readonly source: EngineSource | DiarizerSource;
  /** The key for the server of a hosted model, which gets it as a variable of its environment. */
  readonly key?: string | undefined;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/**
 * Starts an engine process and waits until its model is loaded. If this fails, it throws an Error
 * that names what is missing, and the process has ended.
 */
export async function openEngineChild(options: StartOptions): Promise<EngineChild> {
  const { signal } = options;
  signal?.throwIfAborted();
  const { source, key, stuckMsMax, log } = options;
  const link = openChildLink({ source, key, reportMs: reportMsFor(stuckMsMax), log });
  const { promise, resolve, reject } = Promise.withResolvers<ReadyProcess>();
  link.onFrames = (frames) => {
    for (const frame of frames) {
      if (frame.kind === "ready") resolve(jsonPayload("ready", frame));
      else if (frame.kind === "failed") reject(new Error(jsonPayload("failed", frame).message));
    }
  };
  void link.ended.then(({ how }) => reject(new Error(`the engine process ended with ${how}`)));
  const timer = setTimeout(
    () => reject(new Error(`the engine process was not ready within ${loadMsMax / 1000} s`)),
    loadMsMax,
  );
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    const child = new EngineChild(link, await promise, options);
    log.debug({ pid: child.pid, model: options.model }, "engine.ready");
    return child;
  } catch (error) {
    link.kill();
    await link.ended;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
