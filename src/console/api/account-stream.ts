import type {
  TranscriptJobJson,
  WatchTranscriptResponseJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { LeadingStream, type Message, type Pass } from "./leading-stream.ts";
import { transcriptLock } from "./transcript-locks.ts";

/**
 * The time in which the tab with the stream must answer one that is visible. Otherwise it is
 * suspended, and the visible one takes its place.
 */
const answerMsMax = 5_000;
/** A tab whose timer is later than this was suspended itself, or had no time to read answers. */
const lateMsMax = 1_000;

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
  const { stop } = join(owner, (message) => {
    if (message.kind === "jobs") listener.onJobs(message.jobs);
    else if (message.kind === "live" && isLive !== message.isLive) {
      ({ isLive } = message);
      listener.onLive(isLive);
    }
  });
  return stop;
}

/**
 * Follows a transcript that the page shows. Each state is whole; undefined if no more states arrive
 * because too many transcripts were shown after it. Returns a function that stops.
 */
export function watchTranscript(
  owner: string,
  name: string,
  onState: (state: WatchTranscriptResponseJson | undefined) => void,
): () => void {
  const { post, stop } = join(owner, (message) => {
    if (message.kind === "transcript" && message.name === name) onState(message.state);
    else if (message.kind === "unwatched" && message.name === name) onState(undefined);
  });
  let shown = new AbortController();
  const show = (): void => {
    const before = shown;
    shown = new AbortController();
    const { signal } = shown;
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => resolve());
    const lock = { mode: "shared", signal } as const;
    navigator.locks
      ?.request(transcriptLock(owner, name, Date.now()), lock, async () => {
        before.abort();
        post({ kind: "wants", name });
        await promise;
      })
      .catch(() => {
        // The page was left, or shown again, at once.
        before.abort();
      });
  };
  show();
  window.addEventListener("focus", show);
  return () => {
    window.removeEventListener("focus", show);
    shown.abort();
    stop();
  };
}

/**
 * Listens to the stream of an account. All tabs of a browser share one: the tab that has its lock
 * opens it, and passes on what arrives. Over HTTP/1.1 a browser has only six connections to the
 * service.
 */
function join(owner: string, receive: Pass): { readonly post: Pass; readonly stop: () => void } {
  const tabs = new BroadcastChannel(accountLock(owner));
  const post: Pass = (message) => {
    const isQuestion = message.kind === "hello" || message.kind === "wants";
    if (isQuestion && turn.stream) turn.stream.answer(message);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is about windows; a channel has one origin
    else tabs.postMessage(message);
  };
  const pass: Pass = (message) => {
    receive(message);
    post(message);
  };
  const turn = new Turn(owner, pass);
  const stopChecks = keepLed(turn, tabs, () => post({ kind: "hello" }));
  tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.kind === "hello" || data.kind === "wants") turn.stream?.answer(data);
    else receive(data);
  });
  return {
    post,
    stop() {
      stopChecks();
      turn.leave();
      // The message that the stream has ended is sent before the channel closes.
      queueMicrotask(() => tabs.close());
    },
  };
}

/** The turn of a listener to have the stream. It waits for the lock of the account. */
class Turn {
  readonly #owner: string;
  readonly #pass: Pass;
  #left = new AbortController();
  /** The stream, while it is the turn of this listener. */
  stream: LeadingStream | undefined;

  constructor(owner: string, pass: Pass) {
    this.#owner = owner;
    this.#pass = pass;
    this.wait();
  }

  /** Waits for the lock, or takes it from the tab that has it (`steal`). */
  wait({ steal = false } = {}): void {
    this.leave();
    const left = new AbortController();
    const { signal } = left;
    this.#left = left;
    navigator.locks
      ?.request(accountLock(this.#owner), steal ? { steal } : { signal }, async () => {
        if (signal.aborted) return;
        const stream = new LeadingStream(this.#owner, this.#pass);
        this.stream = stream;
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => {
          stream.close();
          resolve();
        });
        await promise;
      })
      .catch(() => {
        // The listener has left while another one had the lock, or its lock was taken.
        if (signal.aborted || !this.stream) return;
        this.stream.leave();
        this.stream = undefined;
        this.wait();
      });
  }

  leave(): void {
    this.stream = undefined;
    this.#left.abort();
  }
}

/**
 * Sees to it that a visible tab gets what arrives: a tab that is frozen lets others have the
 * stream, and one that is visible takes it from a tab that does not answer, because it is
 * suspended. Returns a function that stops.
 */
function keepLed(turn: Turn, tabs: BroadcastChannel, ask: () => void): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAnswered = false;
  const check = (): void => {
    clearTimeout(timer);
    isAnswered = false;
    const isAsked = !turn.stream;
    const askedAt = performance.now();
    if (isAsked) ask();
    if (document.hidden) return;
    timer = setTimeout(() => {
      // A tab that had the stream has not asked. If it was suspended, another one has it now.
      const isInTime = performance.now() - askedAt < answerMsMax + lateMsMax;
      if (isAsked && isInTime && !turn.stream && !isAnswered) turn.wait({ steal: true });
      check();
    }, answerMsMax);
  };
  const take = ({ data }: MessageEvent<Message>): void => {
    isAnswered ||= data.kind !== "hello" && data.kind !== "wants";
  };
  tabs.addEventListener("message", take, { signal });
  document.addEventListener("visibilitychange", check, { signal });
  document.addEventListener("freeze", () => turn.leave(), { signal });
  document.addEventListener("resume", () => turn.wait(), { signal });
  check();
  return () => {
    clearTimeout(timer);
    stopped.abort();
  };
}

/** The name differs from that of older pages, whose stream has no transcripts. */
function accountLock(owner: string): string {
  return `hlust.account ${owner}`;
}
