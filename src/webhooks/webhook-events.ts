/** The event types that webhooks may subscribe to. */
export const eventTypes = ["transcriptjob.succeeded", "transcriptjob.failed"] as const;
export type EventType = (typeof eventTypes)[number];

/** Only TestWebhook sends this type. */
export const testEventType = "webhook.test";

/** An event that webhooks are notified of. */
export interface WebhookEvent {
  readonly type: EventType | typeof testEventType;
  /** When it happened. */
  readonly at: Date;
  /** The object of the event, as JSON. */
  readonly data: unknown;
}

/** The body of the message, by the recommendation of Standard Webhooks. */
export function bodyOf({ type, at, data }: WebhookEvent): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}
