import type { Counter, Gauge } from "prom-client";
import { closedList, other } from "./labels.ts";
import type { MetricRegistry } from "./metric-registry.ts";
import {
  deliveryResults,
  jobKinds,
  type DeliveryResult,
  type JobKind,
  type JobRecorder,
  type QueueRecorder,
} from "./recorders.ts";

/**
 * The states of jobs that have not ended. The jobs of `waiting` can be leased now. A job of
 * `running` has a lease, or waits for its next attempt, at most a minute.
 */
const jobStates = ["waiting", "running", "waiting_for_content"] as const;
export type JobState = (typeof jobStates)[number];
export type JobCounts = Readonly<Record<JobState, number>>;

/** The queues of the database, which all nodes share, at the time of a scrape. */
export interface QueueFacts {
  readonly jobs: JobCounts;
  readonly alignment: JobCounts;
  /** How long the oldest job that can run has waited. */
  readonly oldestWaitingSeconds: number;
  /** The number of webhook messages that are to be sent. */
  readonly pendingDeliveries: number;
  /** The age of the oldest of them. */
  readonly oldestDeliverySeconds: number;
}

/** The reasons of failed jobs that are counted by name, by kind. */
const failureReasons: Readonly<Record<JobKind, readonly string[]>> = {
  transcript: [
    "INTERNAL",
    "JOB_POISON",
    "INVALID_ARGUMENT",
    "FAILED_PRECONDITION",
    "AUDIO_LIMIT",
    "STORAGE_LIMIT",
    "STORAGE_FULL",
    "STORAGE_UNAVAILABLE",
    "DATABASE_UNAVAILABLE",
    "CONTENT_MISSING",
    "ENGINE_FAILED",
    "MEDIA_ADDRESS_REFUSED",
    "MEDIA_BROKEN",
    "MEDIA_CORRUPT",
    "MEDIA_EMPTY",
    "MEDIA_ENCODED",
    "MEDIA_HOST_UNKNOWN",
    "MEDIA_INVALID",
    "MEDIA_LOST",
    "MEDIA_NOT_HTTP",
    "MEDIA_NO_AUDIO",
    "MEDIA_POISON",
    "MEDIA_REDIRECTS",
    "MEDIA_STATUS",
    "MEDIA_TLS",
    "MEDIA_TOO_LARGE",
    "MEDIA_TOO_LONG",
    "MEDIA_TOO_SLOW",
    "MEDIA_TRUNCATED",
    "MEDIA_UNREACHABLE",
    "MEDIA_URL_REFUSED",
  ],
  alignment: [
    "INTERNAL",
    "JOB_POISON",
    "STORAGE_FULL",
    "STORAGE_UNAVAILABLE",
    "DATABASE_UNAVAILABLE",
    "ENGINE_FAILED",
    "MEDIA_INVALID",
    "MEDIA_LOST",
    "MEDIA_TRUNCATED",
    "ALIGNMENT_NOT_SUPPORTED",
    "TRANSCRIPT_MEDIA_CHANGED",
    "TRANSCRIPT_NOT_FOUND",
    "TRANSCRIPT_WITHOUT_MEDIA",
    "TRANSCRIPT_WITHOUT_WORDS",
    "VERSION_STALE",
  ],
};

const attemptEnds = ["succeeded", "failed", "retried", "released"] as const;

/** Jobs and webhooks: the queues of all nodes, and what this node does with them. */
export class QueueMetrics implements QueueRecorder {
  readonly #counts: Gauge<"kind" | "state">;
  readonly #oldest: Gauge;
  readonly #jobs: ReturnType<typeof jobFamilies>;
  readonly #pending: Gauge;
  readonly #oldestPending: Gauge;
  readonly #deliveries: Counter<"result">;

  constructor(registry: MetricRegistry) {
    this.#counts = registry.gauge({
      name: "hlust_jobs",
      help: "Jobs of the whole service that have not ended, by kind and state",
      labelNames: ["kind", "state"],
    });
    this.#oldest = registry.gauge({
      name: "hlust_jobs_oldest_waiting_seconds",
      help: "How long the oldest job that could run has waited, of the whole service",
    });
    this.#jobs = jobFamilies(registry);
    this.#pending = registry.gauge({
      name: "hlust_webhook_pending",
      help: "Webhook messages of the whole service that are to be sent",
    });
    this.#oldestPending = registry.gauge({
      name: "hlust_webhook_oldest_pending_seconds",
      help: "Age of the oldest webhook message that is to be sent",
    });
    this.#deliveries = registry.counter({
      name: "hlust_webhook_deliveries_total",
      help: "Attempts of this node to deliver webhook messages, by result",
      labelNames: ["result"],
    });
    for (const kind of jobKinds) beginAtZero(this.#jobs, kind);
    for (const result of deliveryResults) this.#deliveries.inc({ result }, 0);
    this.refresh(none);
  }

  jobs(kind: JobKind): JobRecorder {
    const { began, ended, failures, audio, speed } = this.#jobs;
    const reasonOf = closedList(failureReasons[kind]);
    const failed = (reason: string) => failures.inc({ kind, reason: reasonOf(reason) });
    return {
      began: () => began.inc({ kind }),
      succeeded(audioSeconds, seconds) {
        ended.inc({ kind, result: "succeeded" });
        audio.inc({ kind }, audioSeconds);
        speed.series({ kind }).observe(audioSeconds / Math.max(seconds, 0.001));
      },
      failed(reason) {
        ended.inc({ kind, result: "failed" });
        failed(reason);
      },
      retried: () => ended.inc({ kind, result: "retried" }),
      released: () => ended.inc({ kind, result: "released" }),
      expired: failed,
    };
  }

  attempted(result: DeliveryResult): void {
    this.#deliveries.inc({ result });
  }

  /** Brings the queues up to date before a scrape. */
  refresh(facts: QueueFacts): void {
    for (const state of jobStates) {
      this.#counts.set({ kind: "transcript", state }, facts.jobs[state]);
      this.#counts.set({ kind: "alignment", state }, facts.alignment[state]);
    }
    this.#oldest.set(facts.oldestWaitingSeconds);
    this.#pending.set(facts.pendingDeliveries);
    this.#oldestPending.set(facts.oldestDeliverySeconds);
  }
}

function jobFamilies(registry: MetricRegistry) {
  const labelNames = ["kind"] as const;
  return {
    began: registry.counter({
      name: "hlust_job_attempts_total",
      help: "Attempts at jobs that began on this node",
      labelNames,
    }),
    ended: registry.counter({
      name: "hlust_job_attempts_ended_total",
      help: "Attempts at jobs that ended on this node, by result",
      labelNames: ["kind", "result"],
    }),
    failures: registry.counter({
      name: "hlust_job_failures_total",
      help: "Jobs that ended as ERROR on this node, by reason",
      labelNames: ["kind", "reason"],
    }),
    audio: registry.counter({
      name: "hlust_job_audio_seconds_total",
      help: "Seconds of audio in jobs that succeeded on this node",
      labelNames,
    }),
    speed: registry.histogram({
      name: "hlust_job_speed_ratio",
      help: "Seconds of audio for a second of an attempt that succeeded (inverse real-time factor)",
      labelNames,
      buckets: [0.5, 1, 2, 5, 10, 20, 50],
    }),
  };
}

/** Creates the series of a kind of jobs, so that the first event is a rise. */
function beginAtZero(
  { began, ended, failures, audio, speed }: ReturnType<typeof jobFamilies>,
  kind: JobKind,
): void {
  began.inc({ kind }, 0);
  for (const result of attemptEnds) ended.inc({ kind, result }, 0);
  for (const reason of [...failureReasons[kind], other]) failures.inc({ kind, reason }, 0);
  audio.inc({ kind }, 0);
  speed.series({ kind });
}

const noJobs: JobCounts = { waiting: 0, running: 0, waiting_for_content: 0 };
const none: QueueFacts = {
  jobs: noJobs,
  alignment: noJobs,
  oldestWaitingSeconds: 0,
  pendingDeliveries: 0,
  oldestDeliverySeconds: 0,
};
