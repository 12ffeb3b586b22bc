import type {
  TranscriptJobJson,
  WatchTranscriptJobsResponseJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { jobOf, type Job } from "./job.ts";

/** How long after the service has ended or refused the stream it is opened again. */
const againMs = 15_000;

interface JobsListener {
  /** Called with jobs that are new or have changed. */
  readonly onJobs: (jobs: readonly Job[]) => void;
  /**
   * Called with true when changes arrive from now on, and with false when they do not arrive any
   * more.
   */
  readonly onLive: (isLive: boolean) => void;
}

/** The messages between the tabs of a browser. */
type TabMessage =
  | { readonly kind: "jobs"; readonly jobs: readonly TranscriptJobJson[] }
  | { readonly kind: "live"; readonly isLive: boolean }
  /** A tab that has begun to listen asks whether changes arrive. */
  | { readonly kind: "hello" };

/**
 * Follows all jobs of a user's account (identityOf). All tabs of a browser share one stream: the
 * tab that has its lock opens it, and passes on what arrives. Over HTTP/1.1 a browser has only six
 * connections to the service. Returns a function that stops.
 */
export function watchJobs(owner: string, { onJobs, onLive }: JobsListener): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const tabs = new BroadcastChannel(`hlust.jobs ${owner}`);
  let isLive = false;
  let isLeading = false;
  const receive = (message: TabMessage): void => {
    if (message.kind === "jobs") onJobs(message.jobs.map(jobOf));
    else if (message.kind === "live") {
      if (isLive !== message.isLive) onLive(message.isLive);
      ({ isLive } = message);
    } else if (isLeading) post({ kind: "live", isLive });
  };
  const post = (message: TabMessage): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is about windows; a channel has one origin
    tabs.postMessage(message);
  };
  tabs.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => receive(data));
  post({ kind: "hello" });
  if ("locks" in navigator) {
    const lead = async (): Promise<void> => {
      isLeading = true;
      await streamJobs(signal, (message) => {
        receive(message);
        post(message);
      });
    };
    navigator.locks.request(`hlust.jobs ${owner}`, { signal }, lead).catch(() => {
      // The page was left while another tab had the lock.
    });
  }
  return () => {
    stopped.abort();
    // The message that the stream has ended is sent before the channel closes.
    queueMicrotask(() => tabs.close());
  };
}

/** Passes on what the stream of the service sends. Resolves when `signal` aborts. */
async function streamJobs(signal: AbortSignal, pass: (message: TabMessage) => void) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let source: EventSource;
  let again: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    source = new EventSource("/console/api/v1alpha1/transcriptjob:watch?updatesOnly=true");
    source.addEventListener("message", ({ data }: MessageEvent<string>) => {
      const { result }: { readonly result?: WatchTranscriptJobsResponseJson } = JSON.parse(data);
      if (!result) return;
      pass({ kind: "live", isLive: true });
      const { jobs = [] } = result;
      if (jobs.length > 0) pass({ kind: "jobs", jobs });
    });
    source.addEventListener("end", () => {
      source.close();
      pause();
    });
    source.addEventListener("error", () => {
      // The browser reconnects by itself, unless the service has refused the stream.
      if (source.readyState === EventSource.CLOSED) pause();
      else pass({ kind: "live", isLive: false });
    });
  };
  const pause = (): void => {
    pass({ kind: "live", isLive: false });
    clearTimeout(again);
    again = setTimeout(open, againMs);
  };
  open();
  signal.addEventListener("abort", () => {
    clearTimeout(again);
    source.close();
    pass({ kind: "live", isLive: false });
    resolve();
  });
  await promise;
}
