import type { Log } from "../../std/log.ts";
import type { EngineAbsence } from "../protocol/engine-absence.ts";
import type { Frame } from "../protocol/engine-frames.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import type { ChildSession } from "./child-session.ts";
import type { Machine } from "./machine.ts";
import type { WatchdogOptions } from "./watchdog.ts";

/** How an engine process is watched, and to what it reports. */
export interface EngineChildOptions {
  /** The name of the model, for the log. */
  readonly model: string;
  /** The engine node of the process, for the log. Default: this one. */
  readonly node?: string;
  /** The time after which a process that has work but makes no progress is killed. */
  readonly stuckMsMax: number;
  readonly log: Log;
  /** The machine on which the process runs. */
  readonly machine: Machine;
  /** Called with each load report of the process. */
  readonly onLoad: (report: LoadReport) => void;
  /**
   * Checks each frame of a process of an engine node. Throws if it cannot be trusted. Default: the
   * process is this same program, and is trusted.
   */
  readonly check?: (frame: Frame, session: ChildSession | undefined) => Frame;
  /** How the kernel reports on the process. Default: by its pid. */
  readonly readSigns?: WatchdogOptions["readSigns"];
  /**
   * The number after which those of its sessions begin, if several processes are connected to the
   * engine process. Default: 0.
   */
  readonly numbersFrom?: number;
  /** Called when the server of a hosted model has become absent, or is present again. */
  readonly onAbsence?: (absence: EngineAbsence | undefined) => void;
}

/**
 * The maximum interval between two load reports of a process; the report is also its heartbeat.
 */
const reportMsMax = 1000;

/** The interval between two load reports of a process. */
export function reportMsFor(stuckMsMax: number): number {
  return Math.min(reportMsMax, Math.ceil(stuckMsMax / 5));
}
