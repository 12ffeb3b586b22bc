import type { JsonValue } from "@bufbuild/protobuf";
import type { Header, Reference, Response, Schema } from "./document.ts";

/** A failure as a caller receives it. */
export interface FailureAnswer {
  /** The HTTP status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/** The kinds of operations for which a failure can occur. */
export type FailureScope = "every" | "body" | "socket" | "rest";

/** The failures with the same status that several operations share. */
export interface SharedFailure {
  /** The name of the response in the document. */
  readonly name: string;
  readonly description: string;
  readonly scope: FailureScope;
  /** Example responses by ErrorInfo.reason. */
  readonly examples: Readonly<Record<string, FailureAnswer>>;
  readonly status: number | "default";
}

/** The form of failures, which the server defines. */
export interface Failures {
  readonly shared: readonly SharedFailure[];
  /**
   * Returns an example of a failure that a method declares. `code` is the name of its
   * google.rpc.Code.
   */
  answer(failure: {
    readonly code: string;
    readonly reason: string;
    readonly message: string;
  }): FailureAnswer;
  /**
   * The schemas of error bodies by name: "Error" for a failed call, and "StreamError" for an error
   * on a stream.
   */
  readonly schemas: Readonly<Record<"Error" | "StreamError", Schema>> &
    Readonly<Record<string, Schema>>;
}

/** A failure that a method declares. */
export interface OwnFailure {
  readonly reason: string;
  readonly description: string;
  readonly answer: FailureAnswer;
}

const errorSchema: Schema = { $ref: "#/components/schemas/Error" };
export const streamErrorSchema: Schema = { $ref: "#/components/schemas/StreamError" };

type Responses = Record<string, Response | Reference>;

/**
 * Returns the error responses of an operation by status. Responses that are shared between
 * operations are references. Responses that include failures of the operation itself are written in
 * full. 404 and 409 are included only if the method declares them.
 */
export function failureResponses(
  failures: Failures,
  scopes: ReadonlySet<FailureScope>,
  own: readonly OwnFailure[],
): Responses {
  const responses: Responses = {};
  for (const shared of failures.shared) {
    if (!scopes.has(shared.scope)) continue;
    const mine = own.filter(({ answer }) => answer.status === shared.status);
    responses[shared.status] =
      mine.length === 0
        ? { $ref: `#/components/responses/${shared.name}` }
        : responseOf(mine, shared);
  }
  for (const { answer } of own) {
    responses[answer.status] ??= responseOf(
      own.filter((other) => other.answer.status === answer.status),
    );
  }
  return responses;
}

/** Returns every shared failure, for components.responses. */
export function sharedResponses(failures: Failures): Record<string, Response> {
  return Object.fromEntries(failures.shared.map((shared) => [shared.name, responseOf([], shared)]));
}

function responseOf(own: readonly OwnFailure[], shared?: SharedFailure): Response {
  const lines = own.map(({ reason, description }) => `\`${reason}\`: ${description}`);
  const examples = [
    ...own.map(({ reason, answer }) => [reason, answer] as const),
    ...Object.entries(shared?.examples ?? {}),
  ];
  const headers = headersOf(examples.map(([, answer]) => answer));
  const named = examples.map(([reason, { body }]) => [reason, { value: body }] as const);
  return {
    description: [...lines, ...(shared ? [shared.description] : [])].join("\n\n"),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: {
      "application/json": { schema: errorSchema, examples: Object.fromEntries(named.toReversed()) },
    },
  };
}

const headerTexts: Readonly<Record<string, string>> = {
  "www-authenticate": "How to authenticate (RFC 6750).",
  "retry-after": "The number of seconds after which to try again.",
  allow: "The methods that the path supports.",
  upgrade: "The protocol to which the connection must be upgraded.",
};

function headersOf(answers: readonly FailureAnswer[]): Record<string, Header> {
  const headers: Record<string, Header> = {};
  for (const answer of answers) {
    for (const [name, example] of Object.entries(answer.headers)) {
      const description = headerTexts[name];
      if (description !== undefined) {
        headers[titled(name)] = { description, schema: { type: "string" }, example };
      }
    }
  }
  return headers;
}

/** Capitalizes the name of a header: www-authenticate becomes WWW-Authenticate. */
function titled(header: string): string {
  return header
    .replace(/^www/, "WWW")
    .replaceAll(
      /(^|-)([a-z])/g,
      (_, before: string, letter: string) => before + letter.toUpperCase(),
    );
}
