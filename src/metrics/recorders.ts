/**
 * What the rooms of the service report for its metrics. Recorders keep numbers only: no caller,
 * text, address or id reaches them, and each label comes from a closed list.
 */

/** The protocols in which callers call, those of other services by their names. */
export const callProtocols = [
  "rest",
  "websocket",
  "grpc",
  "grpc_web",
  "connect",
  "deepgram",
  "jambonz",
  "openai",
  "vosk",
  "whisper",
  "wyoming",
] as const;
export type CallProtocol = (typeof callProtocols)[number];

/** How a call failed: the name of a google.rpc.Code in lower case, and the ErrorInfo.reason. */
export interface CallFailure {
  readonly code: string;
  readonly reason: string;
}

/** A call in progress. */
export interface RecordedCall {
  /**
   * Names the method, as <service>/<method>. Until it is known, the call belongs to no method.
   * Only calls with `isTimed` are in the histogram of durations: streams last as long as clients
   * want.
   */
  called(method: string, isTimed: boolean): void;
  /** Notes that the call failed. Only the first failure counts. */
  failed(failure: CallFailure): void;
  /** Ends the call. Later ends have no effect. */
  end(): void;
}

export interface CallRecorder {
  begin(protocol: CallProtocol): RecordedCall;
}

/** The routes of the port that are not calls of the contract. */
export const httpRoutes = ["console", "docs", "health", "media", "shared", "uploads"] as const;
export type HttpRoute = (typeof httpRoutes)[number];

export interface HttpRecorder {
  /** Records a response of such a route. */
  answered(
    request: { readonly method: string; readonly route: HttpRoute },
    response: { readonly status: number; readonly seconds: number },
  ): void;
  /** Records a connection that was refused before it called anything. */
  turnedAway(reason: string): void;
}

/** How a live stream ended. */
export const streamEnds = ["complete", "left", "refused", "failed"] as const;
export type StreamEnd = (typeof streamEnds)[number];

/** A live stream in an engine process, or on its way to one. */
export interface LiveRecorder {
  /** Counts audio. Called for each chunk, so it only adds numbers. */
  audio(seconds: number): void;
  /** Records the time from the arrival of the last audio that a result covers to the result. */
  interim(lagSeconds: number): void;
  final(lagSeconds: number): void;
  /** Ends the stream. Later ends have no effect. */
  end(how: StreamEnd): void;
}

/** Why an engine process ended while it was still needed. */
export const engineExits = ["crashed", "stuck", "garbled", "not_loaded"] as const;
export type EngineExit = (typeof engineExits)[number];

export const recognitionUses = ["live", "short", "job"] as const;
export type RecognitionUse = (typeof recognitionUses)[number];

/** The work of an engine process since its last report. */
export type EngineWork = Readonly<
  Record<RecognitionUse, { readonly cpuSeconds: number; readonly audioSeconds: number }>
>;

export interface EngineRecorder {
  exited(model: string, reason: EngineExit): void;
  worked(model: string, work: EngineWork): void;
  beginStream(model: string): LiveRecorder;
}

/** The kinds of jobs, each with a queue. */
export const jobKinds = ["transcript", "alignment"] as const;
export type JobKind = (typeof jobKinds)[number];

/** The jobs of one kind. */
export interface JobRecorder {
  /** Records that an attempt at a job begins on this node. */
  began(): void;
  /** Records that a job succeeded after this many seconds. */
  succeeded(audioSeconds: number, seconds: number): void;
  /** Records that a job ended as ERROR, with its ErrorInfo.reason. */
  failed(reason: string): void;
  /** Records that an attempt failed, and that there will be another one. */
  retried(): void;
  /** Records that an attempt returned its job to the queue, for example at a shutdown. */
  released(): void;
  /** Records that a job ended as ERROR without an attempt, with its ErrorInfo.reason. */
  expired(reason: string): void;
}

/** The results of attempts to deliver a message. */
export const deliveryResults = ["delivered", "refused", "given_up", "released"] as const;
export type DeliveryResult = (typeof deliveryResults)[number];

export interface WebhookRecorder {
  attempted(result: DeliveryResult): void;
}

export interface QueueRecorder extends WebhookRecorder {
  jobs(kind: JobKind): JobRecorder;
}

export const mediaOperations = ["put", "open", "append", "finish", "delete"] as const;
export type MediaOperation = (typeof mediaOperations)[number];

export interface MediaRecorder {
  operated(operation: MediaOperation, seconds: number, hasFailed: boolean): void;
  /** Counts bytes on their way to the store. Called for each chunk, so it only adds numbers. */
  wrote(bytes: number): void;
}

export interface PoolRecorder {
  /** Records how long a call waited for a database connection. */
  waited(seconds: number): void;
}
