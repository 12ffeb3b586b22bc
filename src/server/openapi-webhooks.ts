import type { OpenApiDocument, Operation, Schema } from "../transcoding/openapi/document.ts";

/** Describes the messages that the service sends to webhooks (docs/api.md, Webhooks). */
export const webhookMessages: NonNullable<OpenApiDocument["webhooks"]> = {
  "transcriptjob.succeeded": {
    post: message("transcriptjob.succeeded", "A job has ended with a transcript", "SUCCESS"),
  },
  "transcriptjob.failed": {
    post: message(
      "transcriptjob.failed",
      "A job has ended without a transcript",
      "ERROR or CANCELLED",
    ),
  },
};

function header(name: string, description: string) {
  return { name, in: "header", required: true, description, schema: { type: "string" } } as const;
}

function message(type: string, summary: string, states: string): Operation {
  const schema: Schema = {
    type: "object",
    properties: {
      type: { const: type },
      timestamp: { type: "string", format: "date-time", description: "When the job ended." },
      data: { $ref: "#/components/schemas/TranscriptJob" },
    },
    required: ["type", "timestamp", "data"],
  };
  return {
    operationId: type.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()),
    tags: ["Webhooks"],
    summary,
    description: `\`data\` is the job as GetTranscriptJob returned it when it ended; its state is ${states}.`,
    security: [],
    parameters: [
      header("webhook-id", "The id of the message. It is the same in every attempt."),
      header("webhook-timestamp", "The time of this attempt, in seconds since 1970."),
      header("webhook-signature", "The signatures of Standard Webhooks 1.0, separated by spaces."),
    ],
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: {
      "2XX": { description: "The message was accepted. Any other status is retried for a day." },
      "410": { description: "The webhook is not needed any more: the service disables it." },
    },
  };
}
