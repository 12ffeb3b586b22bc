import type {
  TranscriptJobJson,
  WatchTranscriptJobsResponseJson,
  WatchTranscriptResponseJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** How long after the service has ended or refused the stream it is opened again. */
const againMs = 15_000;
/** The number of transcripts that one stream can watch. */
const transcriptsMax = 20;

/** What the stream says, and what the tabs of a browser say to each other. */
type Message =
  | { readonly kind: "jobs"; readonly jobs: readonly TranscriptJobJson[] }
  | {
      readonly kind: "transcript";
      readonly name: string;
      readonly state: WatchTranscriptResponseJson;
    }
  | { readonly kind: "live"; readonly isLive: boolean }
  /** A listener that has begun asks whether changes arrive. */
  | { readonly kind: "hello" }
  /** A tab watches a transcript from now on, and holds its lock. */
  | { readonly kind: "wants"; readonly name: string };

type Pass = (message: Message) => void;

/** Follows the jobs of a user's account (identityOf). Returns a function that stops. */
export function watchJobs(
  owner: string,
  listener: {
    /** Called with jobs that are new or have changed. */
    readonly onJobs: (jobs: readonly TranscriptJobJson[]) => void;
    /**
     * Called with true when changes arrive from now on, and with false when they do not arrive any
     * more.
     */
    readonly onLive: (isLive: boolean) => void;
  },
): () => void {
  let isLive = false;
  const { post, stop } = join(owner, (message) => {
    if (message.kind === "jobs") listener.onJobs(message.jobs);
    else if (message.kind === "live" && isLive !== message.isLive) {
      ({ isLive } = message);
      listener.onLive(isLive);
    }
  });
  post({ kind: "hello" });
  return stop;
}

/** Follows a transcript. Each state is whole. Returns a function that stops. */
export function watchTranscript(
  owner: string,
  name: string,
  onState: (state: WatchTranscriptResponseJson) => void,
): () => void {
  const { post, stop } = join(owner, (message) => {
    if (message.kind === "transcript" && message.name === name) onState(message.state);
  });
  const left = new AbortController();
  const { signal } = left;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve());
  const lock = { mode: "shared", signal } as const;
  navigator.locks
    ?.request(transcriptLock(owner, name), lock, async () => {
      post({ kind: "wants", name });
      await promise;
    })
    .catch(() => {
      // The page was left at once.
    });
  return () => {
    left.abort();
    stop();
  };
}

/**
 * Listens to the stream of an account. All tabs of a browser share one: the tab that has its lock
 * opens it, and passes on what arrives. Over HTTP/1.1 a browser has only six connections to the
 * service.
 */
function join(owner: string, receive: Pass): { readonly post: Pass; readonly stop: () => void } {
  const stopped = new AbortController();
  const { signal } = stopped;
  const tabs = new BroadcastChannel(accountLock(owner));
  let answer: Pass | undefined;
  const post: Pass = (message) => {
    if (answer && (message.kind === "hello" || message.kind === "wants")) answer(message);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is about windows; a channel has one origin
    else tabs.postMessage(message);
  };
  const pass: Pass = (message) => {
    receive(message);
    post(message);
  };
  tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.kind === "hello" || data.kind === "wants") answer?.(data);
    else receive(data);
  });
  navigator.locks
    ?.request(accountLock(owner), { signal }, async () => {
      const stream = new LeadingStream(owner, pass);
      answer = (message) => stream.answer(message);
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => {
        stream.close();
        resolve();
      });
      await promise;
    })
    .catch(() => {
      // The page was left while another tab had the lock.
    });
  return {
    post,
    stop() {
      stopped.abort();
      // The message that the stream has ended is sent before the channel closes.
      queueMicrotask(() => tabs.close());
    },
  };
}

/**
 * The stream of the tab that leads. It watches the transcripts whose locks are held: those of a tab
 * that was killed are free.
 */
class LeadingStream {
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
    this.#isClosed = true;
    this.#end();
    this.#setLive(false);
  }

  /**
   * Opens a stream of the transcripts that are wanted now. The one before it is closed when the new
   * one begins to send.
   */
  async #open(): Promise<void> {
    const { held = [] } = await navigator.locks.query();
    if (this.#isClosed) return;
    clearTimeout(this.#again);
    this.#next?.close();
    const prefix = transcriptLock(this.#owner, "");
    const names = held.flatMap(({ name = "" }) =>
      name.startsWith(prefix) ? [name.slice(prefix.length)] : [],
    );
    this.#names = new Set([...new Set(names)].slice(0, transcriptsMax));
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
      clearTimeout(this.#again);
    } else {
      this.#end();
      this.#setLive(false);
    }
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

/** The name differs from that of older pages, whose stream has no transcripts. */
function accountLock(owner: string): string {
  return `hlust.account ${owner}`;
}

function transcriptLock(owner: string, name: string): string {
  return `hlust.transcript ${owner} ${name}`;
}
