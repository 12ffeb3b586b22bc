import type { TranscriptMetadataJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { Pause } from "./pause.ts";
import { submitJob } from "./submit-job.ts";
import { TransferSpeed } from "./transfer-speed.ts";
import { uploadFile } from "./upload-file.ts";
import { initUpload } from "./upload-place.ts";
import { waitOut } from "./wait-out.ts";

/** A file on its way to a job. */
export interface QueuedUpload {
  readonly id: string;
  /** Who chose it, in which account. */
  readonly owner: string;
  readonly file: File;
  readonly metadata: TranscriptMetadataJson;
  readonly state: UploadState;
}

/** Where a file is; those that became a job are in the queue no more. */
export type UploadState =
  /** Others go before it. */
  | { readonly kind: "QUEUED" }
  | {
      readonly kind: "SENDING";
      readonly sentBytes: number;
      readonly bytesPerSecond: number | undefined;
    }
  /** The network is gone, or the like; it goes on by itself. */
  | { readonly kind: "WAITING"; readonly error: ApiError }
  /** The service has it, and makes the job. */
  | { readonly kind: "SUBMITTING" }
  | { readonly kind: "FAILED"; readonly error: unknown };

/** What only the queue knows of a file. */
interface Work {
  readonly stop: AbortController;
  readonly pause: Pause;
  /** Names the job that it becomes, however often that is asked for. */
  readonly key: string;
  /** `uploads/<id>`, once it is there. */
  uploaded: string | undefined;
}

/**
 * Files go up one after the other and become jobs; whoever looks is told of each change. One at a
 * time: a browser has six connections to a service of HTTP/1.1, which jobs are watched through as
 * well.
 */
export class UploadQueue {
  #uploads: readonly QueuedUpload[] = [];
  readonly #works = new Map<string, Work>();
  readonly #listeners = new Set<() => void>();
  #onSubmitted: ((upload: QueuedUpload) => void) | undefined;
  #owner: string | undefined;
  /** Whose files are on their way: what waits for one to come back keeps nobody else's. */
  readonly #busy = new Set<string>();

  /** For useSyncExternalStore. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly read = (): readonly QueuedUpload[] => this.#uploads;

  /** Who is told of files that became jobs. */
  whenSubmitted(tell: (upload: QueuedUpload) => void): () => void {
    this.#onSubmitted = tell;
    return () => {
      this.#onSubmitted = undefined;
    };
  }

  /** Files wait while nobody, or somebody else, is signed in (identityOf). */
  setOwner(owner: string | undefined): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    for (const { pause } of this.#works.values()) pause.end();
    void this.#goOn();
  }

  /** `owner`: who chose it; by now somebody else may be signed in. */
  add(owner: string, file: File, metadata: TranscriptMetadataJson): void {
    const id = crypto.randomUUID();
    const stop = new AbortController();
    this.#works.set(id, { stop, pause: new Pause(), key: id, uploaded: undefined });
    this.#set([...this.#uploads, { id, owner, file, metadata, state: { kind: "QUEUED" } }]);
    void this.#goOn();
  }

  /** Stops and forgets it; nothing of half a file stays at the service. */
  remove(id: string): void {
    this.#works.get(id)?.stop.abort();
    this.#works.delete(id);
    this.#set(this.#uploads.filter((upload) => upload.id !== id));
  }

  /** Goes on with one that waits or has failed, now. */
  retry(id: string): void {
    const upload = this.#uploads.find((upload) => upload.id === id);
    this.#works.get(id)?.pause.end();
    if (upload?.state.kind !== "FAILED") return;
    this.#tell(id, { kind: "QUEUED" });
    void this.#goOn();
  }

  async #goOn(): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined || this.#busy.has(owner)) return;
    this.#busy.add(owner);
    try {
      for (let next = this.#next(owner); next; next = this.#next(owner)) await this.#run(next);
    } finally {
      this.#busy.delete(owner);
    }
  }

  #next(owner: string): QueuedUpload | undefined {
    return this.#uploads.find((upload) => upload.state.kind === "QUEUED" && upload.owner === owner);
  }

  async #run(upload: QueuedUpload): Promise<void> {
    const work = this.#works.get(upload.id);
    if (!work) return;
    try {
      work.uploaded ??= await this.#send(upload, work);
      await this.#submit(upload, work, work.uploaded);
      this.remove(upload.id);
      this.#onSubmitted?.(upload);
    } catch (error) {
      if (work.stop.signal.aborted) return;
      // The service has forgotten the file.
      if (error instanceof ApiError && error.violations.some(({ field }) => field === "uri")) {
        work.uploaded = undefined;
      }
      this.#tell(upload.id, { kind: "FAILED", error });
    }
  }

  async #send({ id, owner, file }: QueuedUpload, { stop, pause }: Work): Promise<string> {
    const speed = new TransferSpeed();
    return await uploadFile(file, {
      signal: stop.signal,
      pause,
      begin: async (signal) => {
        this.#checkOwner(owner);
        return await initUpload(signal, { owner });
      },
      onChange: ({ sentBytes, waitsFor }) => {
        if (waitsFor) {
          this.#tell(id, { kind: "WAITING", error: waitsFor });
          return;
        }
        speed.note(sentBytes, performance.now());
        const bytesPerSecond = speed.bytesPerSecond();
        this.#tell(id, { kind: "SENDING", sentBytes, bytesPerSecond });
      },
    });
  }

  async #submit(
    { id, owner, metadata }: QueuedUpload,
    { stop: { signal }, pause, key }: Work,
    uploaded: string,
  ): Promise<void> {
    const submit = async (): Promise<void> => {
      this.#tell(id, { kind: "SUBMITTING" });
      this.#checkOwner(owner);
      await submitJob({ metadata, useUri: false, uri: uploaded }, { key, signal, owner });
    };
    const onWait = (error: ApiError): void => this.#tell(id, { kind: "WAITING", error });
    await waitOut(submit, { signal, pause, onWait });
  }

  /** Throws what setOwner() ends. */
  #checkOwner(owner: string): void {
    if (owner === this.#owner) return;
    throw new ApiError("somebody else is signed in", { status: 401, reason: "SIGNED_OUT" });
  }

  #tell(id: string, state: UploadState): void {
    this.#set(this.#uploads.map((upload) => (upload.id === id ? { ...upload, state } : upload)));
  }

  #set(uploads: readonly QueuedUpload[]): void {
    this.#uploads = uploads;
    for (const listener of this.#listeners) listener();
  }
}

/** How far all of them are, 0 to 100, by their bytes. */
export function percentSent(uploads: readonly QueuedUpload[]): number {
  const total = uploads.reduce((sum, { file }) => sum + file.size, 0);
  const sent = uploads.reduce((sum, upload) => sum + sentBytesOf(upload), 0);
  return total === 0 ? 0 : (100 * sent) / total;
}

function sentBytesOf({ state, file }: QueuedUpload): number {
  if (state.kind === "SENDING") return state.sentBytes;
  return state.kind === "SUBMITTING" ? file.size : 0;
}
