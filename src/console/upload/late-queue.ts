import type { QueuedUpload, UploadQueue } from "./upload-queue.ts";

const none: readonly QueuedUpload[] = [];

/**
 * The queue of uploads, as every page knows it: it is empty until a page that can add files to it
 * has loaded its code, and opens it.
 */
export class LateQueue {
  #queue: UploadQueue | undefined;
  #owner: string | undefined;
  #onSubmitted: ((upload: QueuedUpload) => void) | undefined;
  readonly #listeners = new Set<() => void>();

  /** Adds a listener, for useSyncExternalStore. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly read = (): readonly QueuedUpload[] => this.#queue?.read() ?? none;

  /** Returns the queue. The first call creates it. */
  open(Queue: typeof UploadQueue): UploadQueue {
    if (this.#queue) return this.#queue;
    const queue = new Queue();
    this.#queue = queue;
    queue.setOwner(this.#owner);
    queue.subscribe(() => {
      for (const listener of this.#listeners) listener();
    });
    queue.whenSubmitted((upload) => this.#onSubmitted?.(upload));
    return queue;
  }

  /** Calls the listener with each upload that has become a job, or the media of a transcript. */
  whenSubmitted(listener: (upload: QueuedUpload) => void): () => void {
    this.#onSubmitted = listener;
    return () => {
      this.#onSubmitted = undefined;
    };
  }

  /** Sets the signed-in user (identityOf), as UploadQueue.setOwner() does. */
  setOwner(owner: string | undefined): void {
    this.#owner = owner;
    this.#queue?.setOwner(owner);
  }
}
