import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import { isDatabaseTrouble } from "../database/database-trouble.ts";
import { resolveHost } from "../media/fetch-media.ts";
import type { Resolve } from "../media/media-hop.ts";
import type { MediaAllowList } from "../media/media-url.ts";
import type { WebhookRecorder } from "../metrics/recorders.ts";
import { errorFields, type Log } from "../std/log.ts";
import { repeat } from "../std/repeat.ts";
import { traced, traceWait, type Span } from "../tracing/tracing.ts";
import {
  leaseDeliveries,
  noteDelivered,
  noteRefused,
  releaseDelivery,
  repairDueTimes,
  sweepDeliveries,
  type LeasedDelivery,
} from "./delivery-queue.ts";
import { sendDelivery, type Attempt, type Refusal } from "./send-delivery.ts";
import { signedHeaders } from "./sign-delivery.ts";

export interface DeliveryWorkerParts {
  readonly database: Pick<Database, "db">;
  /** Addresses that may be reached in addition to public ones. */
  readonly allow: MediaAllowList;
  readonly log: Log;
  /** Records attempts, for the metrics of the node. */
  readonly recorder?: WebhookRecorder | undefined;
  /** Default: Math.random. */
  readonly chance?: () => number;
  /** For tests. Default: 30 s. */
  readonly repairMs?: number;
  /** For tests. Default: resolveHost. */
  readonly resolve?: Resolve;
  /** For tests. Default: 15 s, the least that Standard Webhooks recommends. */
  readonly timeoutMs?: number;
}

/** The maximum number of messages that a node sends concurrently, in total and to one webhook. */
const sendingMax = 64;
const sendingOfWebhookMax = 8;
const pollMs = 500;
const sweepMs = 600_000;
/** How often to look for messages that wait because a clock was set back. */
const repairMs = 30_000;
/** How long a worker that stops waits for responses from receivers. */
const stopMsMax = 3_000;

/**
 * Sends the messages of webhooks until the worker is disposed of, which releases messages without a
 * response.
 */
export function openDeliveryWorker(parts: DeliveryWorkerParts): AsyncDisposable {
  return new DeliveryWorker(parts);
}

/**
 * The information that the owner of a webhook gets about a bug; the operator's log has the details.
 */
const internalRefusal = {
  isTaken: false,
  status: undefined,
  problem: "the service failed to send it; the log of its operator has the reason",
  retryAfterMs: undefined,
} as const satisfies Attempt;

class DeliveryWorker implements AsyncDisposable {
  readonly #parts: Required<Omit<DeliveryWorkerParts, "recorder">> &
    Pick<DeliveryWorkerParts, "recorder">;
  readonly #running = new Set<Promise<void>>();
  /** Messages that are being sent, by webhook. */
  readonly #sending = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly #loop: Promise<unknown>;

  constructor(parts: DeliveryWorkerParts) {
    this.#parts = {
      chance: Math.random,
      resolve: resolveHost,
      timeoutMs: 15_000,
      repairMs,
      ...parts,
    };
    this.#loop = Promise.all([
      this.#repeat(0, "webhook.lease_failed", () => this.#next()),
      this.#repeat(sweepMs, "webhook.sweep_failed", () => this.#sweep()),
      this.#repeat(this.#parts.repairMs, "webhook.repair_failed", () => this.#repair()),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("the worker stops"));
    const timer = setTimeout(() => this.#stopped.abort(this.#stopping.signal.reason), stopMsMax);
    await this.#loop;
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  async #repeat(everyMs: number, event: string, step: () => Promise<void>): Promise<void> {
    const { log } = this.#parts;
    const failing = { afterFailureMs: pollMs * 4, isWarning: isDatabaseTrouble };
    await repeat({ everyMs, ...failing, log, event, signal: this.#stopping.signal }, step);
  }

  /** Starts due deliveries as far as there is room; otherwise waits. */
  async #next(): Promise<void> {
    const { database, timeoutMs } = this.#parts;
    const room = sendingMax - this.#running.size;
    const deliveries =
      room > 0
        ? await leaseDeliveries(database.db, {
            // By the end of the lease, the message has been sent or given up, and the outcome has
            // been recorded.
            leaseMs: timeoutMs * 2,
            room,
            ofWebhookMax: sendingOfWebhookMax,
            sending: this.#sending,
          })
        : [];
    for (const delivery of deliveries) this.#start(delivery);
    if (deliveries.length > 0) return;
    const woken = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, woken.signal]);
    const wait = sleep(pollMs, undefined, { signal }).catch(() => {});
    await Promise.race([wait, ...this.#running]);
    woken.abort();
  }

  #start(delivery: LeasedDelivery): void {
    const { webhookId } = delivery;
    this.#sending.set(webhookId, (this.#sending.get(webhookId) ?? 0) + 1);
    const run = this.#deliver(delivery)
      .catch((error: unknown) => {
        // The message is sent again when the lease expires.
        this.#parts.log.error({ ...idsOf(delivery), ...errorFields(error) }, "webhook.lost");
      })
      .finally(() => {
        const left = (this.#sending.get(webhookId) ?? 1) - 1;
        if (left > 0) this.#sending.set(webhookId, left);
        else this.#sending.delete(webhookId);
        this.#running.delete(run);
      });
    this.#running.add(run);
  }

  /** Sends a message as a step of the trace that caused it, which its receiver can continue. */
  async #deliver(delivery: LeasedDelivery): Promise<void> {
    const { traceparent, waitedMs } = delivery;
    traceWait("queue webhook", { parent: traceparent, waitedMs });
    const options = { kind: "client", parent: traceparent ?? "" } as const;
    await traced("deliver webhook", options, (span) => this.#attempt(delivery, span));
  }

  async #attempt(delivery: LeasedDelivery, span: Span | undefined): Promise<void> {
    const { database, allow, resolve, timeoutMs, log, recorder } = this.#parts;
    const { url, body, secrets, at, attempts } = delivery;
    const startedAt = performance.now();
    const signed = signedHeaders(delivery, at, secrets);
    const headers = { ...signed, ...(span && { traceparent: span.traceparent }) };
    const { signal } = this.#stopped;
    const attempt = await sendDelivery(
      { url, body, headers },
      { allow, resolve, timeoutMs, signal },
    ).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      log.error({ ...idsOf(delivery), ...errorFields(error) }, "webhook.send_failed");
      return internalRefusal;
    });
    if (!attempt) {
      await releaseDelivery(database.db, delivery);
      log.info(idsOf(delivery), "webhook.released");
      recorder?.attempted("released");
      return;
    }
    const ms = Math.round(performance.now() - startedAt);
    span?.set({ "http.response.status_code": attempt.status ?? 0 });
    if (!attempt.isTaken) {
      span?.fail(attempt.status === undefined ? "no_answer" : String(attempt.status));
      await this.#noteRefused(delivery, attempt, ms);
      return;
    }
    if (await noteDelivered(database.db, delivery, attempt.status)) {
      log.info({ ...idsOf(delivery), status: attempt.status, attempts, ms }, "webhook.delivered");
      recorder?.attempted("delivered");
    }
  }

  async #noteRefused(delivery: LeasedDelivery, refusal: Refusal, ms: number): Promise<void> {
    const { database, chance, log, recorder } = this.#parts;
    const when = { elapsedMs: ms, chance: chance() };
    const noted = await noteRefused(database.db, delivery, refusal, when);
    if (!noted) return;
    const fields = { ...idsOf(delivery), status: refusal.status, attempts: delivery.attempts, ms };
    log.info(fields, noted.isGivenUp ? "webhook.given_up" : "webhook.refused");
    recorder?.attempted(noted.isGivenUp ? "given_up" : "refused");
    if (noted.disabledReason !== undefined) {
      log.warn({ webhookId: delivery.webhookId, status: refusal.status }, "webhook.disabled");
    }
  }

  async #repair(): Promise<void> {
    await repairDueTimes(this.#parts.database.db);
  }

  async #sweep(): Promise<void> {
    await sweepDeliveries(this.#parts.database.db, this.#stopping.signal);
  }
}

function idsOf({ id, webhookId }: LeasedDelivery): { webhookId: string; deliveryId: string } {
  return { webhookId, deliveryId: id };
}
