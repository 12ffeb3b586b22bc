import type { Counter, Gauge } from "prom-client";
import { closedList, other } from "./labels.ts";
import type { MetricRegistry } from "./metric-registry.ts";
import type { HistogramSeries } from "./plain-histogram.ts";
import {
  deliveryResults,
  type DeliveryResult,
  type JobRecorder,
  type WebhookRecorder,
} from "./recorders.ts";

/**
 * The states of jobs that have not ended. The jobs of `waiting` can be leased now. A job of
 * `running` has a lease, or waits for its next attempt, at most a minute.
 */
export const jobStates = ["waiting", "running", "waiting_for_content"] as const;
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

/** The reasons of failed jobs that are counted by name. */
const failureReasons = [
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
  "MEDIA_CORRUPT",
  "MEDIA_INVALID",
  "MEDIA_LOST",
  "MEDIA_NO_AUDIO",
  "MEDIA_POISON",
  "MEDIA_STATUS",
  "MEDIA_TOO_LARGE",
  "MEDIA_TOO_LONG",
  "MEDIA_TOO_SLOW",
  "MEDIA_TRUNCATED",
  "MEDIA_UNREACHABLE",
  "MEDIA_URL_REFUSED",
];
const failureReason = closedList(failureReasons);

const attemptEnds = ["succeeded", "failed", "retried", "released"] as const;

/** Jobs and webhooks: the queues of all nodes, and what this node does with them. */
export class QueueMetrics implements JobRecorder, WebhookRecorder {
  readonly #counts: Gauge<"kind" | "state">;
  readonly #oldest: Gauge;
  readonly #began: Counter;
  readonly #attempts: Counter<"result">;
  readonly #failures: Counter<"reason">;
  readonly #audio: Counter;
  readonly #speed: HistogramSeries;
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
    this.#began = registry.counter({
      name: "hlust_job_attempts_total",
      help: "Attempts at jobs that began on this node",
    });
    this.#attempts = registry.counter({
      name: "hlust_job_attempts_ended_total",
      help: "Attempts at jobs that ended on this node, by result",
      labelNames: ["result"],
    });
    this.#failures = registry.counter({
      name: "hlust_job_failures_total",
      help: "Jobs that ended as ERROR on this node, by reason",
      labelNames: ["reason"],
    });
    this.#audio = registry.counter({
      name: "hlust_job_audio_seconds_total",
      help: "Seconds of audio in jobs that succeeded on this node",
    });
    this.#speed = registry
      .histogram({
        name: "hlust_job_speed_ratio",
        help: "Seconds of audio for a second of an attempt that succeeded (inverse real-time factor)",
        buckets: [0.5, 1, 2, 5, 10, 20, 50],
      })
      .series({});
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
    for (const result of attemptEnds) this.#attempts.inc({ result }, 0);
    for (const reason of [...failureReasons, other]) this.#failures.inc({ reason }, 0);
    for (const result of deliveryResults) this.#deliveries.inc({ result }, 0);
    this.refresh(none);
  }

  began(): void {
    this.#began.inc();
  }

  succeeded(audioSeconds: number, seconds: number): void {
    this.#attempts.inc({ result: "succeeded" });
    this.#audio.inc(audioSeconds);
    this.#speed.observe(audioSeconds / Math.max(seconds, 0.001));
  }

  failed(reason: string): void {
    this.#attempts.inc({ result: "failed" });
    this.#failures.inc({ reason: failureReason(reason) });
  }

  retried(): void {
    this.#attempts.inc({ result: "retried" });
  }

  released(): void {
    this.#attempts.inc({ result: "released" });
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

const noJobs: JobCounts = { waiting: 0, running: 0, waiting_for_content: 0 };
const none: QueueFacts = {
  jobs: noJobs,
  alignment: noJobs,
  oldestWaitingSeconds: 0,
  pendingDeliveries: 0,
  oldestDeliverySeconds: 0,
};
