import type { Log } from "../../std/log.ts";
import type { OpenSession } from "../protocol/engine-frames.ts";
import type { ChildSession, SessionEnd } from "./child-session.ts";
import type { EngineChild } from "./engine-child.ts";
import type { SessionClient } from "./session-client.ts";
import { SessionFailures } from "./session-failures.ts";
import type { SessionPlacement } from "./session-placement.ts";

/** A session of one window, which is sent as a whole. */
export interface WindowSession<T> {
  readonly client: SessionClient;
  readonly payload: Omit<OpenSession, "isSuspect">;
  readonly placement: SessionPlacement;
  /** Sends the window. */
  readonly send: (session: ChildSession) => Promise<void> | undefined;
  /** Returns the result, once the process has sent it. */
  readonly found: () => T | undefined;
  readonly log: Log;
}

/**
 * Runs the session in as many processes as necessary: a process that dies, or whose engine node
 * does, is followed by another one, which receives the whole window. Returns the result. Throws
 * ServiceError: unavailable if no process becomes ready, internal if this window crashes processes;
 * otherwise the error of the process.
 */
export async function replayWindow<T>(window: WindowSession<T>, signal: AbortSignal): Promise<T> {
  const { client, found, log } = window;
  const failures = new SessionFailures(client.mode, log, () => client.uncommittedSeconds);
  for (let hadPlace = false; ; hadPlace = true) {
    const { isSuspect, avoided } = failures;
    const { end, child } = await runOnce(window, { hadPlace, isSuspect, avoided, signal });
    signal.throwIfAborted();
    if (end.kind === "failed" || end.kind === "answered") throw end.error;
    const result = found();
    if (result !== undefined) return result;
    if (end.kind === "done") throw new Error("the engine process ended a window without a result");
    if (end.kind === "lost") failures.lost(end);
    if (end.kind === "ignored") failures.ignored(child);
  }
}

async function runOnce<T>(
  { client, payload, placement, send }: WindowSession<T>,
  how: {
    readonly hadPlace: boolean;
    readonly isSuspect: boolean;
    readonly avoided: EngineChild | undefined;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly end: SessionEnd; readonly child: EngineChild }> {
  const { isSuspect, signal } = how;
  const { child, session } = await placement.find(client, { ...payload, isSuspect }, how);
  const leave = () => child.leave(session);
  signal.addEventListener("abort", leave);
  try {
    // The signal may have aborted while the session was being placed.
    if (signal.aborted) leave();
    await send(session);
    session.endInput();
    return { end: await session.ended, child };
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
