/** The state of a node or of a model on it, by its name in the API. */
export type NodeState = "READY" | "STARTING" | "NOT_READY" | "DRAINING";
export type NodeModelState =
  | "SERVING"
  | "LOADING"
  | "UNUSABLE"
  | "NOT_LOADED"
  | "SERVER_UNREACHABLE"
  | "SERVER_BUSY"
  | "SERVER_DENIED";

/** What a node reports about itself, as it is stored. */
export interface NodeStatus {
  /** The host name of the machine or container. */
  readonly host: string;
  /** The address at which the node listens. */
  readonly address: string;
  readonly role: string;
  readonly version: string;
  readonly state: NodeState;
  readonly openStreams: number;
  readonly runningJobs: number;
  /** The share in use of the cores that live streams may occupy. */
  readonly load: number;
  readonly models: readonly NodeModelStatus[];
  /** The id of the models folder; "" if the node cannot write to it. */
  readonly modelsFolder: string;
  readonly installedModels: readonly InstalledModelStatus[];
}

/** A model on the disk of a node. */
export interface InstalledModelStatus {
  readonly name: string;
  readonly version: string;
  readonly bytes: number;
  /** Whether the model comes with the service. */
  readonly isBuiltin: boolean;
}

/** A model of a node. */
export interface NodeModelStatus {
  readonly name: string;
  /** "" if the model could not be loaded. */
  readonly version: string;
  readonly languageCodes: readonly string[];
  readonly state: NodeModelState;
  readonly processes: number;
  readonly ready: number;
  readonly sessions: number;
  readonly streamsMax: number;
}
