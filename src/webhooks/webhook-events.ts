/** What webhooks can be told, and may ask for. */
export const eventTypes = ["transcriptjob.succeeded", "transcriptjob.failed"] as const;
export type EventType = (typeof eventTypes)[number];

/** What only TestWebhook sends. */
export const testEventType = "webhook.test";

/** Something that webhooks are told. */
export interface WebhookEvent {
  readonly type: EventType | typeof testEventType;
  /** When it happened. */
  readonly at: Date;
  /** JSON of what it is about. */
  readonly data: unknown;
}

/** The body of the message, by the recommendation of Standard Webhooks. */
export function bodyOf({ type, at, data }: WebhookEvent): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}
