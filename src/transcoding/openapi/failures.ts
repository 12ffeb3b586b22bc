import type { JsonValue } from "@bufbuild/protobuf";
import type { Header, Reference, Response, Schema } from "./document.ts";

/** A failure as the caller sees it. */
export interface FailureAnswer {
  /** HTTP status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/** Which operations have a failure. */
export type FailureScope = "every" | "body" | "socket" | "rest";

/** Failures with one status that operations share. */
export interface SharedFailure {
  /** Name of the response in the document. */
  readonly name: string;
  readonly description: string;
  readonly scope: FailureScope;
  /** By ErrorInfo.reason. */
  readonly examples: Readonly<Record<string, FailureAnswer>>;
  readonly status: number | "default";
}

/** What failures look like, which the doors know. */
export interface Failures {
  readonly shared: readonly SharedFailure[];
  /** An example of what a method itself declares: `code` is the name of its google.rpc.Code. */
  answer(failure: {
    readonly code: string;
    readonly reason: string;
    readonly message: string;
  }): FailureAnswer;
  /**
   * Schemas of the bodies, by name; "Error" is that of a failed call, "StreamError" that on a
   * stream.
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
 * Error responses of an operation by status: those that it shares are referred to, those with
 * failures of its own are written out. 404 and 409 are only there where a method declares them.
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

/** components.responses: every shared failure. */
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
  "retry-after": "Seconds after which it makes sense to try again.",
  allow: "The methods that the path takes.",
  upgrade: "What the connection must become.",
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

/** www-authenticate: WWW-Authenticate. */
function titled(header: string): string {
  return header
    .replace(/^www/, "WWW")
    .replaceAll(
      /(^|-)([a-z])/g,
      (_, before: string, letter: string) => before + letter.toUpperCase(),
    );
}
