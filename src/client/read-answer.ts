import type { DescField, DescMessage, JsonValue, MessageShape, Registry } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { Code, ConnectError } from "@connectrpc/connect";
import { isObject } from "../transcoding/is-object.ts";
import { errorOfStatus } from "./read-error.ts";
import { readLines } from "./read-lines.ts";

/**
 * The type of a response according to its rule: the message, or the field that response_body names.
 */
export interface AnswerType<O extends DescMessage> {
  readonly output: O;
  readonly responseBody: DescField | undefined;
  readonly registry: Registry;
}

/**
 * Returns the message of a successful response. Fields that are newer than this client are left
 * out.
 */
export async function readAnswer<O extends DescMessage>(
  type: AnswerType<O>,
  response: Response,
): Promise<MessageShape<O>> {
  if (!isHttpBody(type)) return messageOf(type, parse(await response.text()));
  return messageOfBytes(type, new Uint8Array(await response.arrayBuffer()), response);
}

/**
 * Yields the messages of a streamed response, one per line. A response with google.api.HttpBody is
 * read as bytes: each message contains the bytes of one read. Throws the error in {"error"}.
 */
export async function* readAnswerStream<O extends DescMessage>(
  type: AnswerType<O>,
  response: Response,
): AsyncGenerator<MessageShape<O>, void> {
  if (response.body === null) return;
  if (!isHttpBody(type)) {
    for await (const line of readLines(response.body)) yield readStreamAnswer(type, line);
    return;
  }
  const reader = response.body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      yield messageOfBytes(type, part.value, response);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function isHttpBody({ output, responseBody }: AnswerType<DescMessage>): boolean {
  if (responseBody?.fieldKind === "list") return false;
  return (responseBody === undefined ? output : responseBody.message)?.typeName === httpBody;
}

const httpBody = "google.api.HttpBody";

function messageOfBytes<O extends DescMessage>(
  { output, responseBody }: AnswerType<O>,
  data: Uint8Array,
  { headers }: Response,
): MessageShape<O> {
  const message = create(output);
  const root = reflect(output, message);
  const body = responseBody?.fieldKind === "message" ? root.get(responseBody) : root;
  for (const field of body.fields) {
    if (field.name === "data") body.set(field, data);
    if (field.name === "content_type") body.set(field, headers.get("content-type") ?? "");
  }
  if (responseBody?.fieldKind === "message") root.set(responseBody, body);
  return message;
}

/** Returns one message of a stream, in {"result"}. Throws the error in {"error"}. */
export function readStreamAnswer<O extends DescMessage>(
  type: AnswerType<O>,
  text: string,
): MessageShape<O> {
  const json = parse(text);
  if (isObject(json)) {
    const { result, error } = json;
    if (result !== undefined) return messageOf(type, result);
    const failure = error === undefined ? undefined : errorOfStatus(error);
    if (failure !== undefined) throw failure;
  }
  throw new ConnectError("received a message that is neither result nor error", Code.Internal);
}

function messageOf<O extends DescMessage>(
  { output, responseBody, registry }: AnswerType<O>,
  json: JsonValue,
): MessageShape<O> {
  const whole = responseBody === undefined ? json : { [responseBody.jsonName]: json };
  try {
    return fromJson(output, whole, { registry, ignoreUnknownFields: true });
  } catch (error) {
    const problem = `the answer is not a ${output.typeName}`;
    throw new ConnectError(problem, Code.Internal, undefined, undefined, error);
  }
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConnectError("the answer is not JSON", Code.Internal, undefined, undefined, error);
  }
}
