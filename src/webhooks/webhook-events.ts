/** The event types that webhooks may subscribe to. */
export const eventTypes = ["transcriptjob.succeeded", "transcriptjob.failed"] as const;
export type EventType = (typeof eventTypes)[number];

/** Only TestWebhook sends this type. */
export const testEventType = "webhook.test";

/** An event that is sent to webhooks. */
export interface WebhookEvent {
  readonly type: EventType | typeof testEventType;
  /** The time of the event. */
  readonly at: Date;
  /** The object of the event, as JSON. */
  readonly data: unknown;
}

/** Returns the body of the message as recommended by Standard Webhooks. */
export function bodyOf({ type, at, data }: WebhookEvent): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}
