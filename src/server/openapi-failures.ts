import type { JsonValue } from "@bufbuild/protobuf";
import { errorCodes, type ErrorCode } from "../std/error-codes.ts";
import { ServiceError, type ServiceErrorOptions } from "../std/service-error.ts";
import type { Schema } from "../transcoding/openapi/document.ts";
import type {
  FailureAnswer,
  Failures,
  FailureScope,
  SharedFailure,
} from "../transcoding/openapi/failures.ts";
import { errorBody } from "./answer-errors.ts";

/**
 * Describes the responses to failed calls. Their bodies are written by the same code as real errors
 * (api: Errors).
 */
export function describeFailures(): Failures {
  return {
    shared: sharedFailures(),
    schemas: { Error: failed, StreamError: status, ErrorDetail: detail },
    answer({ code, reason, message }) {
      const known = errorCodes.find((name) => name.toUpperCase() === code);
      if (known === undefined) throw new Error(`${code} is not a google.rpc.Code`);
      return answerOf(known, sentence(message), { reason });
    },
  };
}

/** Converts text to the form of a message: without an initial capital letter or a final period. */
function sentence(text: string): string {
  return text.replace(/\.$/, "").replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}

function answerOf(
  code: ErrorCode,
  message: string,
  options: ServiceErrorOptions = {},
): FailureAnswer {
  const { status, headers, body } = errorBody(new ServiceError(code, message, options));
  const json: JsonValue = JSON.parse(body);
  return { status, headers, body: json };
}

function shared(
  name: string,
  scope: FailureScope,
  description: string,
  examples: Readonly<Record<string, FailureAnswer>>,
): SharedFailure {
  const [first] = Object.values(examples);
  return { name, scope, description, examples, status: first?.status ?? 500 };
}

const tokenNeeded =
  "a valid token is required: an API key, or a JWT signed with a registered client key";

function sharedFailures(): SharedFailure[] {
  const violations = [
    { field: "metadata.languageCode", description: "is required, for example is-IS" },
    { field: "uri", description: "is required" },
  ];
  return [
    shared("InvalidRequest", "every", "The request is invalid.", {
      INVALID_ARGUMENT: answerOf(
        "invalid_argument",
        violations.map(({ field, description }) => `${field}: ${description}`).join("; "),
        { violations },
      ),
      MALFORMED_JSON: answerOf(
        "invalid_argument",
        "not valid JSON at line 1, column 2: expected a name in double quotes, found the end",
        { reason: "MALFORMED_JSON" },
      ),
      MALFORMED_PATH: answerOf(
        "invalid_argument",
        '"/v1/apiKeys/%ff" is not a path with percent-encoded UTF-8',
        { reason: "MALFORMED_PATH" },
      ),
      SEVERAL_TOKENS: answerOf(
        "invalid_argument",
        "the call has two different tokens: send one, in one place",
        { reason: "SEVERAL_TOKENS" },
      ),
    }),
    shared(
      "Unauthenticated",
      "every",
      "No token, or one that is malformed, wrong, expired or revoked.",
      {
        TOKEN_MISSING: answerOf("unauthenticated", tokenNeeded, { reason: "TOKEN_MISSING" }),
        TOKEN_INVALID: answerOf("unauthenticated", tokenNeeded, { reason: "TOKEN_INVALID" }),
      },
    ),
    shared("Forbidden", "every", "The key lacks the scope that the method needs.", {
      SCOPE_MISSING: answerOf(
        "permission_denied",
        "the key that this token belongs to lacks the scope speech",
        { reason: "SCOPE_MISSING", metadata: { scope: "speech" } },
      ),
    }),
    shared("TooLarge", "body", "The body is longer than the method accepts.", {
      PAYLOAD_TOO_LARGE: answerOf("invalid_argument", "the body is larger than 1048576 bytes", {
        reason: "PAYLOAD_TOO_LARGE",
        httpStatus: 413,
        metadata: { bytesMax: "1048576" },
      }),
    }),
    shared("UnsupportedMediaType", "body", "The Content-Encoding of the body is not supported.", {
      UNSUPPORTED_MEDIA_TYPE: answerOf(
        "invalid_argument",
        'Content-Encoding "gzip" is not accepted: send the body uncompressed',
        { reason: "UNSUPPORTED_MEDIA_TYPE", httpStatus: 415 },
      ),
    }),
    shared("UpgradeRequired", "socket", "The request does not ask for a WebSocket.", {
      UPGRADE_REQUIRED: {
        ...answerOf("unimplemented", "this is a stream: connect to it as a WebSocket", {
          reason: "UPGRADE_REQUIRED",
          httpStatus: 426,
        }),
        headers: { upgrade: "websocket" },
      },
    }),
    ...passingFailures(),
  ];
}

/** Returns failures for which a retry may succeed, and failures that no method expects. */
function passingFailures(): SharedFailure[] {
  return [
    shared(
      "TooMany",
      "every",
      "Too many requests or too much data at once: retry after `Retry-After` seconds.",
      {
        TOO_MANY_REQUESTS: answerOf(
          "resource_exhausted",
          "the account has made 60000 calls in the last 60 s, which is its limit",
          {
            reason: "TOO_MANY_REQUESTS",
            metadata: { limit: "requestsPerMinute", value: "60000", of: "account" },
          },
        ),
      },
    ),
    shared("Unavailable", "every", "Temporarily unavailable: retry after `Retry-After` seconds.", {
      DATABASE_UNAVAILABLE: answerOf(
        "unavailable",
        "the database is unavailable for a moment: try again",
        { reason: "DATABASE_UNAVAILABLE" },
      ),
    }),
    {
      name: "Failure",
      scope: "every",
      description:
        "Any other failure, with the same form of body. Another method on this path is answered 405 with `Allow`.",
      status: "default",
      examples: {
        METHOD_NOT_ALLOWED: answerOf(
          "unimplemented",
          '"/v1/apiKeys" does not accept "PUT", only GET, POST',
          {
            reason: "METHOD_NOT_ALLOWED",
            httpStatus: 405,
            metadata: { allow: "GET, POST" },
          },
        ),
        INTERNAL: answerOf("internal", "internal error"),
        DEADLINE_EXCEEDED: answerOf("deadline_exceeded", "the body stalled for 30 s"),
      },
    },
  ];
}

const detailRef: Schema = { $ref: "#/components/schemas/ErrorDetail" };
const statusProperties = {
  code: { type: "integer", description: "The google.rpc.Code, for example 3." },
  message: {
    type: "string",
    description: "For developers, in English: names the field, its value and the limit.",
  },
  details: {
    type: "array",
    items: detailRef,
    description: "For programs: always ErrorInfo, and the others if they apply.",
  },
} as const satisfies Record<string, Schema>;

const status: Schema = {
  type: "object",
  description: "A google.rpc.Status: the `error` of a stream.",
  properties: statusProperties,
  required: ["code", "message", "details"],
};

const failed: Schema = {
  type: "object",
  description:
    "The body of every failed call. `error` repeats it in the form of Google's JSON APIs.",
  properties: {
    ...statusProperties,
    error: {
      type: "object",
      properties: {
        code: { type: "integer", description: "The HTTP status." },
        status: {
          type: "string",
          enum: errorCodes.map((code) => code.toUpperCase()),
          description: "The name of the google.rpc.Code.",
        },
        message: statusProperties.message,
        details: statusProperties.details,
      },
      required: ["code", "status", "message", "details"],
    },
  },
  required: ["code", "message", "details", "error"],
};

function detailOf(type: string, properties: Record<string, Schema>, required: string[]): Schema {
  return {
    type: "object",
    properties: { "@type": { const: `type.googleapis.com/google.rpc.${type}` }, ...properties },
    required: ["@type", ...required],
  };
}

const detail: Schema = {
  description: "google.rpc.ErrorInfo, BadRequest or RetryInfo: `@type` has the type.",
  oneOf: [
    detailOf(
      "ErrorInfo",
      {
        reason: {
          type: "string",
          description: "A stable, machine-readable reason in UPPER_SNAKE_CASE.",
        },
        domain: { const: "hlust" },
        metadata: { type: "object", additionalProperties: { type: "string" } },
      },
      ["reason", "domain"],
    ),
    detailOf(
      "BadRequest",
      {
        fieldViolations: {
          type: "array",
          description: "Every violation in the request.",
          items: {
            type: "object",
            properties: {
              field: {
                type: "string",
                description: "A path of JSON names: `segments[0].words[2].startTime`.",
              },
              description: { type: "string" },
            },
            required: ["field", "description"],
          },
        },
      },
      ["fieldViolations"],
    ),
    detailOf("RetryInfo", { retryDelay: { type: "string", pattern: "^[0-9]+(?:\\.[0-9]+)?s$" } }, [
      "retryDelay",
    ]),
  ],
};
