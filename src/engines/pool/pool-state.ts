import type { EngineNodeState } from "../nodes/engine-node.ts";
import type { EngineAbsence } from "../protocol/engine-absence.ts";
import type { LoadableModel } from "./loadable-models.ts";
import type { ModelProcesses } from "./model-processes.ts";
import type { RefusedState } from "./refused-models.ts";
import { isDiarizer } from "./serving-models.ts";

/** A loaded model. */
export interface ModelState {
  readonly name: string;
  readonly version: string;
  readonly languageCodes: readonly string[];
  readonly processes: number;
  /** The number of processes that are ready to recognize. */
  readonly ready: number;
  /**
   * Whether the model was found at the start, and its processes are still being loaded for the
   * first time.
   */
  readonly loading: boolean;
  readonly sessions: number;
  /** Why the server of a hosted model cannot recognize now. The log has the details. */
  readonly absent?: EngineAbsence["kind"];
  /**
   * The number of live streams that the model can recognize concurrently while all of them carry
   * speech and nothing else runs, as measured; 0 for a diarization model.
   */
  readonly streamsMax: number;
}

/** A model that is available for recognition, with its uses and size. */
export type ServedModel = Pick<
  LoadableModel,
  "name" | "version" | "languageCodes" | "uses" | "bytes"
>;

export interface EnginePoolState {
  /** The number of processes, excluding those that diarize. */
  readonly processes: number;
  /** The number of processes that are ready to recognize. */
  readonly ready: number;
  readonly sessions: number;
  /**
   * The share in use of the cores that live streams may occupy; more than 1 after a process was
   * lost.
   */
  readonly load: number;
  readonly models: readonly ModelState[];
  /** The installed models that could not be loaded. */
  readonly refused: readonly RefusedState[];
  /** The engine nodes; absent if the settings name none. */
  readonly nodes?: readonly EngineNodeState[];
}

/** What the metrics of a node need in addition to the state of the pool. */
export interface PoolMeasures {
  /** The longest delay of live audio in a process. */
  readonly liveLateMs: number;
  /** The ids of the processes that are ready, by model. */
  readonly pids: ReadonlyMap<string, readonly number[]>;
}

/** Returns the state of a model. `loading` is as in ModelState. */
export function stateOf(each: ModelProcesses, loading: boolean): ModelState {
  const { name, version, languageCodes } = each.model;
  const children = each.children();
  return {
    name,
    version,
    languageCodes,
    processes: each.processes,
    ready: children.length,
    loading,
    sessions: children.reduce((sum, child) => sum + child.sessions, 0),
    ...(each.absence && { absent: each.absence.kind }),
    streamsMax: isDiarizer(each.model) ? 0 : each.admission.streamsMax(children),
  };
}
