import type {
  TranscriptJobJson,
  WatchTranscriptJobsResponseJson,
  WatchTranscriptResponseJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { shownLast } from "./transcript-locks.ts";

/** How long after the service has ended or refused the stream it is opened again. */
const againMs = 15_000;
/** The number of transcripts that one stream can watch. */
const transcriptsMax = 20;

/** What the stream says, and what the tabs of a browser say to each other. */
export type Message =
  | { readonly kind: "jobs"; readonly jobs: readonly TranscriptJobJson[] }
  | {
      readonly kind: "transcript";
      readonly name: string;
      readonly state: WatchTranscriptResponseJson;
    }
  /** No more states of the transcript arrive: too many were shown after it. */
  | { readonly kind: "unwatched"; readonly name: string }
  | { readonly kind: "live"; readonly isLive: boolean }
  /** A listener asks whether changes arrive. The tab that leads answers. */
  | { readonly kind: "hello" }
  /** A tab watches a transcript from now on, and holds its lock. */
  | { readonly kind: "wants"; readonly name: string };

export type Pass = (message: Message) => void;

/**
 * The stream of the tab that leads. It watches the transcripts whose locks are held: those of a tab
 * that was killed are free. If there are too many, it watches those that were shown last.
 */
export class LeadingStream {
  readonly #owner: string;
  readonly #pass: Pass;
  /** The newest states of the transcripts that the stream watches. */
  readonly #states = new Map<string, WatchTranscriptResponseJson>();
  #isLive = false;
  #isClosed = false;
  #names: ReadonlySet<string> = new Set();
  /** The stream that changes come from, and the one that takes its place. */
  #source: EventSource | undefined;
  #next: EventSource | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(owner: string, pass: Pass) {
    this.#owner = owner;
    this.#pass = pass;
    // The tab that had the stream before may have been killed.
    this.#setLive(false);
    void this.#open();
  }

  answer(message: Message): void {
    if (message.kind === "hello") this.#pass({ kind: "live", isLive: this.#isLive });
    else if (message.kind === "wants") {
      const { name } = message;
      const state = this.#states.get(name);
      if (state && state.deleted !== true) this.#pass({ kind: "transcript", name, state });
      else if (!this.#names.has(name) || state) void this.#open();
    }
  }

  close(): void {
    this.leave();
    this.#setLive(false);
  }

  /** Closes the stream, and says nothing: another tab has one already. */
  leave(): void {
    this.#isClosed = true;
    this.#end();
  }

  /**
   * Opens a stream of the transcripts that are wanted now. The one before it is closed when the new
   * one begins to send.
   */
  async #open(): Promise<void> {
    // The browser refuses them to a page that is not shown any more, which may be shown again.
    const found = await navigator.locks.query().catch(() => {});
    if (this.#isClosed) return;
    if (!found) {
      this.#openAgain();
      return;
    }
    clearTimeout(this.#again);
    this.#next?.close();
    const { held = [] } = found;
    const locks = held.map(({ name = "" }) => name);
    this.#names = new Set(shownLast(locks, this.#owner, transcriptsMax));
    const query = new URLSearchParams([
      ["updatesOnly", "true"],
      ...Array.from(this.#names, (name) => ["transcripts", name]),
    ]);
    const source = new EventSource(`/console/api/v1alpha1/transcriptjob:watch?${query}`);
    this.#next = source;
    source.addEventListener("message", ({ data }: MessageEvent<string>) => {
      const { result }: { readonly result?: WatchTranscriptJobsResponseJson } = JSON.parse(data);
      if (result) this.#take(source, result);
    });
    source.addEventListener("end", () => this.#openLater(source));
    source.addEventListener("error", () => {
      // The browser reconnects by itself, unless the service has refused the stream.
      if (source.readyState === EventSource.CLOSED) this.#openLater(source);
      else if (source === this.#source) this.#setLive(false);
    });
  }

  #take(source: EventSource, { jobs = [], transcripts = [] }: WatchTranscriptJobsResponseJson) {
    if (source === this.#next) {
      if (this.#source) {
        this.#source.close();
        // It may not have sent its last changes, and the new one begins after them.
        this.#setLive(false);
      }
      this.#source = source;
      this.#next = undefined;
      for (const name of this.#states.keys()) {
        if (!this.#names.has(name)) this.#pass({ kind: "unwatched", name });
      }
      this.#states.clear();
    }
    this.#setLive(true);
    if (jobs.length > 0) this.#pass({ kind: "jobs", jobs });
    for (const { name = "", state = {} } of transcripts) {
      this.#states.set(name, state);
      this.#pass({ kind: "transcript", name, state });
    }
  }

  /** Opens the stream that was refused or has ended again. One before it that works goes on. */
  #openLater(source: EventSource): void {
    if (source === this.#next && this.#source) {
      source.close();
      this.#next = undefined;
    } else {
      this.#end();
      this.#setLive(false);
    }
    this.#openAgain();
  }

  #openAgain(): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.#open(), againMs);
  }

  #end(): void {
    clearTimeout(this.#again);
    this.#source?.close();
    this.#next?.close();
    this.#source = this.#next = undefined;
    this.#names = new Set();
    this.#states.clear();
  }

  #setLive(isLive: boolean): void {
    this.#isLive = isLive;
    this.#pass({ kind: "live", isLive });
  }
}
