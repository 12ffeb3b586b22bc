import type { SubmitTranscriptJobRequestJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { noteUnsaved } from "../api/unsaved-work.ts";
import { forgetUpload, keepUpload, keptPlace } from "./kept-uploads.ts";
import { Pause } from "./pause.ts";
import { beginUpload } from "./resumable-upload.ts";
import { submitJob } from "./submit-job.ts";
import { TransferSpeed } from "./transfer-speed.ts";
import { uploadFile } from "./upload-file.ts";
import { waitOut } from "./wait-out.ts";

/** The request that submits an upload, without its source. */
export type UploadRequest = Omit<SubmitTranscriptJobRequestJson, "useUri" | "uri">;

/** A file that is to become a job, or the media of a transcript. */
export interface QueuedUpload {
  readonly id: string;
  /** The user who chose the file, and the account (identityOf). */
  readonly owner: string;
  readonly file: File;
  readonly request: UploadRequest;
  /** `transcripts/<transcript_id>` whose media the file is; undefined: it becomes a job. */
  readonly transcript?: string | undefined;
  readonly state: UploadState;
}

/** The state of an upload. Uploads that have become jobs or media are no longer in the queue. */
export type UploadState =
  /** Other files are being sent first. */
  | { readonly kind: "QUEUED" }
  | {
      readonly kind: "SENDING";
      readonly sentBytes: number;
      readonly bytesPerSecond: number | undefined;
    }
  /**
   * The upload is waiting for a temporary problem, such as a lost network, to end. It then resumes
   * automatically.
   */
  | { readonly kind: "WAITING"; readonly error: ApiError }
  /** The service has the file; the job is being created. */
  | { readonly kind: "SUBMITTING" }
  | { readonly kind: "FAILED"; readonly error: unknown };

/** The private state of an upload in the queue. */
interface Work {
  readonly stop: AbortController;
  readonly pause: Pause;
  /** The idempotency key, which makes repeated submit requests create only one job. */
  readonly key: string;
  /** Ends the note that the file is not a job yet. */
  readonly noteSubmitted: () => void;
  readonly onJob: ((name: string) => void) | undefined;
  /** `uploads/<id>`, once its upload has begun. */
  place: string | undefined;
  /** `uploads/<id>`, once the file is uploaded. */
  uploaded: string | undefined;
}

/**
 * Uploads files one at a time, submits them as jobs, and notifies listeners of each change. Several
 * concurrent uploads could use up the six HTTP/1.1 connections that a browser opens to the service,
 * and watching jobs needs connections as well.
 */
export class UploadQueue {
  #uploads: readonly QueuedUpload[] = [];
  readonly #works = new Map<string, Work>();
  readonly #listeners = new Set<() => void>();
  #onSubmitted: ((upload: QueuedUpload) => void) | undefined;
  #owner: string | undefined;
  /**
   * The owners whose files are being sent. An owner who is signed out does not block the others.
   */
  readonly #busy = new Set<string>();

  /** Adds a listener, for useSyncExternalStore. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly read = (): readonly QueuedUpload[] => this.#uploads;

  /** Calls the listener with each upload that has become a job, or the media of a transcript. */
  whenSubmitted(listener: (upload: QueuedUpload) => void): () => void {
    this.#onSubmitted = listener;
    return () => {
      this.#onSubmitted = undefined;
    };
  }

  /**
   * Sets the signed-in user (identityOf). Files of other users wait until their owner signs in
   * again.
   */
  setOwner(owner: string | undefined): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    for (const { pause } of this.#works.values()) pause.end();
    void this.#sendAll();
  }

  /**
   * Adds a file to the queue. `owner` is the user who chose the file; another user may be signed in
   * by now.
   */
  add(
    owner: string,
    file: File,
    request: UploadRequest,
    options: {
      /** Called with the name of the job that the file has become. */
      readonly onJob?: (name: string) => void;
      /** The transcript whose media the file is. Default: the file becomes a job. */
      readonly transcript?: string;
    } = {},
  ): void {
    const { transcript } = options;
    const id = crypto.randomUUID();
    const stop = new AbortController();
    this.#works.set(id, {
      stop,
      pause: new Pause(),
      key: id,
      noteSubmitted: noteUnsaved(owner, "upload", id),
      onJob: options.onJob,
      place: undefined,
      uploaded: undefined,
    });
    const state = { kind: "QUEUED" } as const;
    this.#set([...this.#uploads, { id, owner, file, request, transcript, state }]);
    void this.#sendAll();
  }

  /** Stops and removes an upload, and the bytes that the service has of it. */
  remove(id: string): void {
    const work = this.#works.get(id);
    work?.stop.abort();
    work?.noteSubmitted();
    if (work?.place !== undefined) forgetUpload(work.place);
    this.#works.delete(id);
    this.#set(this.#uploads.filter((upload) => upload.id !== id));
  }

  /** Immediately resumes an upload that is waiting or has failed. */
  retry(id: string): void {
    const upload = this.#uploads.find((upload) => upload.id === id);
    this.#works.get(id)?.pause.end();
    if (upload?.state.kind !== "FAILED") return;
    this.#update(id, { kind: "QUEUED" });
    void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
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
      if (upload.transcript === undefined) await this.#submit(upload, work, work.uploaded);
      this.remove(upload.id);
      this.#onSubmitted?.(upload);
    } catch (error) {
      if (work.stop.signal.aborted) return;
      // The service no longer has the file.
      if (error instanceof ApiError && error.violations.some(({ field }) => field === "uri")) {
        if (work.place !== undefined) forgetUpload(work.place);
        work.uploaded = undefined;
      }
      this.#update(upload.id, { kind: "FAILED", error });
    }
  }

  async #send({ id, owner, file, transcript }: QueuedUpload, work: Work): Promise<string> {
    const { stop, pause } = work;
    const speed = new TransferSpeed();
    // An upload that is kept after the page is closed becomes a job.
    const isKept = transcript === undefined;
    const place = isKept ? keptPlace(owner, file) : undefined;
    work.place = place?.name;
    return await uploadFile(file, {
      signal: stop.signal,
      pause,
      place,
      begin: async (signal) => {
        this.#checkOwner(owner);
        if (work.place !== undefined) forgetUpload(work.place);
        const target = { owner, filename: file.name, ...(!isKept && { transcript }) };
        const begun = await beginUpload(signal, file.size, target);
        work.place = begun.name;
        if (isKept) keepUpload(owner, file, begun.name);
        return begun;
      },
      onChange: ({ sentBytes, waitsFor }) => {
        if (waitsFor) {
          this.#update(id, { kind: "WAITING", error: waitsFor });
          return;
        }
        speed.note(sentBytes, performance.now());
        const bytesPerSecond = speed.bytesPerSecond();
        this.#update(id, { kind: "SENDING", sentBytes, bytesPerSecond });
      },
    });
  }

  async #submit(
    { id, owner, request }: QueuedUpload,
    { stop: { signal }, pause, key, onJob }: Work,
    uploaded: string,
  ): Promise<void> {
    const submit = async (): Promise<void> => {
      this.#update(id, { kind: "SUBMITTING" });
      this.#checkOwner(owner);
      const submitted = { ...request, useUri: false, uri: uploaded };
      const { name = "" } = await submitJob(submitted, { key, signal, owner });
      onJob?.(name);
    };
    const onWait = (error: ApiError): void => this.#update(id, { kind: "WAITING", error });
    await waitOut(submit, { signal, pause, onWait });
  }

  /**
   * Throws if another user is signed in. waitOut() treats the error as temporary, until setOwner()
   * is called.
   */
  #checkOwner(owner: string): void {
    if (owner === this.#owner) return;
    throw new ApiError("another user is signed in", { status: 401, reason: "SIGNED_OUT" });
  }

  #update(id: string, state: UploadState): void {
    this.#set(this.#uploads.map((upload) => (upload.id === id ? { ...upload, state } : upload)));
  }

  #set(uploads: readonly QueuedUpload[]): void {
    this.#uploads = uploads;
    for (const listener of this.#listeners) listener();
  }
}
