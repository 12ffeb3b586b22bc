import {
  type DescMethod,
  fromJson,
  getOption,
  hasOption,
  type JsonValue,
  type Message,
  type Registry,
} from "@bufbuild/protobuf";
import {
  access,
  answer_types,
  body_bytes_max,
  failures as failuresOption,
  headers,
} from "../../gen/hlust/api/annotations_pb.ts";
import { ServiceError } from "../../std/service-error.ts";
import { takesHttpBody } from "../bind-request.ts";
import type { Binding } from "../http-rules.ts";
import { writeRequest, type WrittenRequest } from "../write-request.ts";
import { answersHttpBody } from "../write-response.ts";
import { type Comments, summaryOf } from "./comments.ts";
import type { ContractExamples, UnaryExample } from "./contract-examples.ts";
import { curlOf } from "./curl.ts";
import type {
  CodeSample,
  Example,
  MediaType,
  Operation,
  Parameter,
  RequestBody,
  Response,
  Schema,
  WebSocketDescription,
} from "./document.ts";
import {
  type Failures,
  type FailureScope,
  failureResponses,
  streamErrorSchema,
} from "./failures.ts";
import { jsonLayout } from "./json-layout.ts";
import { openApiPath } from "./openapi-path.ts";
import { queryParameters } from "./query-parameters.ts";
import type { SchemaBook } from "./schema-book.ts";

/** The parts from which operations are created. */
export interface OperationParts {
  /** All bindings of the document. */
  readonly bindings: readonly Binding[];
  readonly schemas: SchemaBook;
  readonly comments: Comments;
  readonly examples: ContractExamples;
  readonly failures: Failures;
  /** The types that a google.protobuf.Any in an example can contain. */
  readonly registry: Registry;
  /** The maximum size of a body in bytes, for methods that do not declare their own. */
  readonly bodyBytesMax: number;
  /** The base URL of the service, without a trailing slash. */
  readonly url: string;
}

/** Creates the operation for one binding. `names` contains its id and its tag. */
export function operationOf(
  binding: Binding,
  names: { readonly operationId: string; readonly tag: string },
  parts: OperationParts,
): Operation {
  const { method } = binding;
  const { comments, schemas } = parts;
  const { summary, description } = summaryOf(comments.of(method));
  const calls = callsOf(binding, parts);
  const isSocket = needsSocket(method);
  const parameters = [
    ...openApiPath(binding).parameters,
    ...(isSocket ? [] : queryParameters(binding, schemas)),
    ...headerParameters(method),
  ];
  const requestBody = isSocket ? undefined : requestBodyOf(binding, calls, parts);
  const scopes = new Set<FailureScope>(["every", isSocket ? "socket" : "rest"]);
  if (requestBody !== undefined) scopes.add("body");
  return {
    operationId: names.operationId,
    tags: [names.tag],
    summary: summary === "" ? method.name : summary,
    ...(description !== "" && { description }),
    security: securityOf(method),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: {
      ...(isSocket ? { "101": switching } : { "200": answerOf(binding, calls, parts) }),
      ...failureResponses(parts.failures, scopes, ownFailures(method, parts.failures)),
    },
    "x-grpc-path": `/${method.parent.typeName}/${method.name}`,
    ...(isSocket && { "x-websocket": socketOf(method, parts) }),
    ...(calls.length > 0 && { "x-codeSamples": calls.map(({ sample }) => sample) }),
  };
}

/** Whether callers send a stream of messages, which needs a WebSocket. */
export function needsSocket({ methodKind }: DescMethod): boolean {
  return methodKind === "bidi_streaming" || methodKind === "client_streaming";
}

/** An example of the contract, written for one binding. */
interface Call {
  readonly example: UnaryExample;
  readonly body: JsonValue | undefined;
  readonly sample: CodeSample;
}

function callsOf(binding: Binding, parts: OperationParts): Call[] {
  return parts.examples(binding.method).flatMap((example) => {
    if ("stream" in example) return [];
    const { registry } = parts;
    const message = fromJson(binding.method.input, example.request, { registry });
    const request = writtenBy(binding, message, parts);
    if (request === undefined) return [];
    const text = request.body?.content;
    const body: JsonValue | undefined = typeof text === "string" ? JSON.parse(text) : undefined;
    const source = curlOf({
      method: request.httpMethod,
      url: `${parts.url}${request.target}`,
      headers: example.headers,
      body: body === undefined ? undefined : jsonLayout(body, 66),
    });
    return [{ example, body, sample: { lang: "Shell", label: example.title, source } }];
  });
}

/**
 * Writes an example for a binding. Returns undefined if an operator's rule cannot express the
 * example, for example because the rule changed the path of a collection. Each example must be
 * expressible by one of the contract's rules for the method.
 */
function writtenBy(
  binding: Binding,
  message: Message,
  { bindings, registry }: OperationParts,
): WrittenRequest | undefined {
  try {
    return writeRequest([binding], message, registry);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.reason !== "NOT_EXPRESSIBLE") throw error;
    if (binding.spot.rule !== undefined) return undefined;
    const others = bindings.filter((each) => each !== binding && each.method === binding.method);
    if (others.length === 0) throw error;
    writeRequest(others, message, registry);
    return undefined;
  }
}

function securityOf(method: DescMethod): Operation["security"] {
  if (!hasOption(method, access)) return [];
  const { scope, tokenParameter, keyParameter } = getOption(method, access);
  const scopes = scope === "" ? [] : [scope];
  return [
    { bearer: scopes },
    ...(tokenParameter ? [{ token: scopes }] : []),
    ...(keyParameter ? [{ key: scopes }, { apiKeyHeader: scopes }] : []),
  ];
}

function headerParameters(method: DescMethod): Parameter[] {
  if (!hasOption(method, headers)) return [];
  return getOption(method, headers).map(({ name, description, charsMax, example, required }) => ({
    name,
    in: "header",
    description,
    ...(required && { required }),
    schema: { type: "string", ...(charsMax > 0 && { minLength: 1, maxLength: charsMax }) },
    ...(example !== "" && { example }),
  }));
}

/** A body of bytes. Generated clients send a body with this type and schema as it is. */
const fileContent = {
  "application/octet-stream": { schema: { type: "string", format: "binary" } },
} as const;

/** Whether a body says nothing: the path has all fields of the request. */
function isEmpty(body: JsonValue): boolean {
  return typeof body === "object" && body !== null && Object.keys(body).length === 0;
}

function requestBodyOf(
  binding: Binding,
  calls: readonly Call[],
  { schemas, bodyBytesMax }: OperationParts,
): RequestBody | undefined {
  const { body, method, variables, updateMask } = binding;
  if (body === "") return undefined;
  const bytesMax = hasOption(method, body_bytes_max)
    ? getOption(method, body_bytes_max)
    : bodyBytesMax;
  if (takesHttpBody(binding)) {
    return { content: fileContent, "x-bytesMax": bytesMax };
  }
  const inPath = new Set(
    variables.flatMap(([field, below]) => (field && !below ? [field.name] : [])),
  );
  const schema =
    body === "*"
      ? schemas.bodyWithout(method.input, inPath)
      : schemas.field(body, updateMask ? "patch" : "request");
  const examples = calls.flatMap(({ example, body }): [string, JsonValue][] =>
    body === undefined ? [] : [[example.title, body]],
  );
  const { description } = schema;
  return {
    ...(body !== "*" && description !== undefined && { description }),
    ...(examples.some(([, body]) => !isEmpty(body)) && { required: true as const }),
    content: { "application/json": mediaType(schema, examples) },
    "x-bytesMax": bytesMax,
  };
}

function answerOf(binding: Binding, calls: readonly Call[], { schemas }: OperationParts): Response {
  const { method, responseBody } = binding;
  if (answersHttpBody(binding)) return fileOf(method);
  const schema =
    responseBody === undefined
      ? schemas.answer(method.output)
      : responseBody.fieldKind === "message"
        ? schemas.answer(responseBody.message)
        : schemas.field(responseBody, "answer");
  const examples = calls.map(({ example }): [string, JsonValue] => [example.title, example.answer]);
  if (method.methodKind === "server_streaming") return streamOf(envelope(schema), examples);
  return { description: "Success.", content: { "application/json": mediaType(schema, examples) } };
}

/** Returns the response of a method that responds with a google.api.HttpBody. */
function fileOf(method: DescMethod): Response {
  const types = hasOption(method, answer_types) ? getOption(method, answer_types) : ["*/*"];
  const content = types.map((type): [string, MediaType] => [
    type,
    type.startsWith("text/") ? { schema: { type: "string" } } : {},
  ]);
  return {
    description: "The content, with its own media type.",
    content: Object.fromEntries(content),
  };
}

function mediaType(schema: Schema, examples: readonly (readonly [string, JsonValue])[]): MediaType {
  const named = examples.map(([title, value]): [string, Example] => [
    slug(title),
    { summary: title, value },
  ]);
  return { schema, ...(named.length > 0 && { examples: Object.fromEntries(named) }) };
}

function slug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

function envelope(result: Schema): Schema {
  return {
    oneOf: [
      { type: "object", properties: { result }, required: ["result"] },
      { type: "object", properties: { error: streamErrorSchema }, required: ["error"] },
    ],
  };
}

/** Returns the response of a server stream. Each example is one message of the stream. */
function streamOf(message: Schema, examples: readonly (readonly [string, JsonValue])[]): Response {
  return {
    description:
      "Success. Each line, or each event if `Accept` requests text/event-stream, is one message. An error is the last message.",
    content: {
      "application/x-ndjson": mediaType(message, examples),
      "text/event-stream": { schema: message },
    },
  };
}

const switching: Response = {
  description:
    "The connection is now a WebSocket. In both directions, each text frame is one JSON message.",
  headers: {
    Upgrade: { schema: { const: "websocket" } },
    "Sec-WebSocket-Protocol": {
      description: "`Bearer`, if the token was sent as `Sec-WebSocket-Protocol: Bearer, <token>`.",
      schema: { const: "Bearer" },
    },
  },
};

function socketOf(method: DescMethod, { schemas, examples }: OperationParts): WebSocketDescription {
  const streams = examples(method).flatMap((example) =>
    "stream" in example
      ? [[slug(example.title), { summary: example.title, messages: example.stream }] as const]
      : [],
  );
  return {
    send: schemas.message(method.input, "request"),
    receive: envelope(schemas.answer(method.output)),
    examples: Object.fromEntries(streams),
  };
}

function ownFailures(method: DescMethod, failures: Failures) {
  if (!hasOption(method, failuresOption)) return [];
  return getOption(method, failuresOption).map(({ code, reason, description }) => {
    const answer = failures.answer({ code, reason, message: description });
    return { reason, description, answer };
  });
}
