import { create } from "@bufbuild/protobuf";
import {
  WebhookDelivery_State as State,
  WebhookDeliverySchema,
  WebhookSchema,
  type Webhook,
  type WebhookDelivery,
} from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import type { StoredDelivery } from "./delivery-store.ts";
import type { StoredWebhook } from "./webhook-store.ts";

/**
 * Creates the message of a webhook. `now` is in milliseconds, and determines whether the secret
 * before the last rotation still signs.
 */
export function webhookMessage(row: StoredWebhook, now: number): Webhook {
  const until = row.previous_secret_until;
  return create(WebhookSchema, {
    name: `webhooks/${row.id}`,
    url: row.url,
    displayName: row.display_name,
    eventTypes: row.event_types,
    disabled: row.disabled_at !== null,
    ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
    creationTime: timestampFromDate(row.created_at),
    ...(until && until.getTime() > now && { previousSecretExpireTime: timestampFromDate(until) }),
  });
}

export function deliveryMessage(row: StoredDelivery): WebhookDelivery {
  return create(WebhookDeliverySchema, {
    name: `webhooks/${row.webhook_id}/deliveries/${row.id}`,
    state: State[row.state],
    eventType: row.event_type,
    ...(row.job_id !== null && { job: `transcriptjob/${row.job_id}` }),
    creationTime: timestampFromDate(row.created_at),
    attempts: row.attempts,
    ...(row.last_attempt_at && { lastAttemptTime: timestampFromDate(row.last_attempt_at) }),
    ...(row.state === "PENDING" && { nextAttemptTime: timestampFromDate(row.due_at) }),
    ...(row.last_http_status !== null && { lastHttpStatus: row.last_http_status }),
    ...(row.last_problem !== null && { lastProblem: row.last_problem }),
  });
}
