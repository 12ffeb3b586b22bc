import type { Database } from "../database/database.ts";
import { QueueWorker } from "../database/queue-worker.ts";
import { resolveHost } from "../media/fetch-media.ts";
import type { Resolve } from "../media/media-hop.ts";
import type { MediaAllowList } from "../media/media-url.ts";
import type { WebhookRecorder } from "../metrics/recorders.ts";
import { errorFields, type Log } from "../std/log.ts";
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
export function openDeliveryWorker(given: DeliveryWorkerParts): AsyncDisposable {
  const defaults = { chance: Math.random, resolve: resolveHost, timeoutMs: 15_000, repairMs };
  const parts: Parts = { ...defaults, ...given };
  const { database, timeoutMs, log } = parts;
  const { db } = database;
  /** The number of messages that are being sent, by webhook. */
  const sending = new Map<string, number>();
  return new QueueWorker<LeasedDelivery>({
    runningMax: sendingMax,
    pollMs,
    stopMsMax,
    // By the end of the lease, the message has been sent or given up, and the outcome has been
    // recorded.
    lease: async (room) =>
      await leaseDeliveries(db, {
        leaseMs: timeoutMs * 2,
        room,
        ofWebhookMax: sendingOfWebhookMax,
        sending,
      }),
    leaseFailed: "webhook.lease_failed",
    async work(delivery, stopped) {
      count(sending, delivery.webhookId, 1);
      try {
        await deliver(parts, delivery, stopped);
      } finally {
        count(sending, delivery.webhookId, -1);
      }
    },
    onLost: (delivery, error) =>
      log.error({ ...idsOf(delivery), ...errorFields(error) }, "webhook.lost"),
    steps: [
      {
        everyMs: sweepMs,
        event: "webhook.sweep_failed",
        act: async (signal) => await sweepDeliveries(db, signal),
      },
      {
        everyMs: parts.repairMs,
        event: "webhook.repair_failed",
        act: async () => await repairDueTimes(db),
      },
    ],
    log,
  });
}

type Parts = Required<Omit<DeliveryWorkerParts, "recorder">> &
  Pick<DeliveryWorkerParts, "recorder">;

/**
 * The information that the owner of a webhook gets about a bug; the operator's log has the details.
 */
const internalRefusal = {
  isTaken: false,
  status: undefined,
  problem: "the service failed to send it; the log of its operator has the reason",
  retryAfterMs: undefined,
} as const satisfies Attempt;

/** Adds to a count, which has no entry if it is 0. */
function count(counts: Map<string, number>, key: string, added: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + added;
  if (next > 0) counts.set(key, next);
  else counts.delete(key);
}

/** Sends a message as a step of the trace that caused it, which its receiver can continue. */
async function deliver(
  parts: Parts,
  delivery: LeasedDelivery,
  stopped: AbortSignal,
): Promise<void> {
  const { traceparent, waitedMs } = delivery;
  traceWait("queue webhook", { parent: traceparent, waitedMs });
  const options = { kind: "client", parent: traceparent ?? "" } as const;
  await traced("deliver webhook", options, (span) => attempt(parts, delivery, { span, stopped }));
}

async function attempt(
  parts: Parts,
  delivery: LeasedDelivery,
  { span, stopped }: { readonly span: Span | undefined; readonly stopped: AbortSignal },
): Promise<void> {
  const { database, allow, resolve, timeoutMs, log, recorder } = parts;
  const { url, body, secrets, at, attempts } = delivery;
  const startedAt = performance.now();
  const signed = signedHeaders(delivery, at, secrets);
  const headers = { ...signed, ...(span && { traceparent: span.traceparent }) };
  const answer = await sendDelivery(
    { url, body, headers },
    { allow, resolve, timeoutMs, signal: stopped },
  ).catch((error: unknown) => {
    if (stopped.aborted) return undefined;
    log.error({ ...idsOf(delivery), ...errorFields(error) }, "webhook.send_failed");
    return internalRefusal;
  });
  if (!answer) {
    await releaseDelivery(database.db, delivery);
    log.info(idsOf(delivery), "webhook.released");
    recorder?.attempted("released");
    return;
  }
  const ms = Math.round(performance.now() - startedAt);
  span?.set({ "http.response.status_code": answer.status ?? 0 });
  if (!answer.isTaken) {
    span?.fail(answer.status === undefined ? "no_answer" : String(answer.status));
    await recordRefusal(parts, delivery, { refusal: answer, ms });
    return;
  }
  if (await noteDelivered(database.db, delivery, answer.status)) {
    log.info({ ...idsOf(delivery), status: answer.status, attempts, ms }, "webhook.delivered");
    recorder?.attempted("delivered");
  }
}

async function recordRefusal(
  { database, chance, log, recorder }: Parts,
  delivery: LeasedDelivery,
  { refusal, ms }: { readonly refusal: Refusal; readonly ms: number },
): Promise<void> {
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

function idsOf({ id, webhookId }: LeasedDelivery): { webhookId: string; deliveryId: string } {
  return { webhookId, deliveryId: id };
}
