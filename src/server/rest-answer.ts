import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import type { MethodImplSpec } from "@connectrpc/connect";
import { rawFieldOf } from "../std/raw-field.ts";
import { ServiceError } from "../std/service-error.ts";
import { unlessAborted } from "../std/until-aborted.ts";
import { acceptStream } from "../transcoding/accept-stream.ts";
import type { Binding } from "../transcoding/http-rules.ts";
import type { StreamEnvelope } from "../transcoding/stream-envelope.ts";
import type { Transcoder } from "../transcoding/transcoder.ts";
import { answersHttpBody, httpBodyOf, type HttpContent } from "../transcoding/write-response.ts";
import { takesEncoding } from "./accept-encoding.ts";
import type { AnswerError } from "./answer-errors.ts";
import { answerStored, heldBytesOf } from "./answer-stored.ts";
import {
  answerBytes,
  answerHead,
  answerStream,
  bytesType,
  streamLimits,
  type StreamLimits,
} from "./answer-stream.ts";
import type { CallContext } from "./call-context.ts";
import {
  answerContent,
  answerJson,
  headerOf,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";

export type UnarySpec = Extract<MethodImplSpec, { kind: "unary" }>;
export type StreamSpec = Extract<MethodImplSpec, { kind: "server_streaming" }>;
type Answer = MessageInitShape<DescMessage>;

/** A call with its request message already read. */
export interface RestCall {
  readonly binding: Binding;
  readonly message: Message;
  readonly call: CallContext;
  readonly transcoder: Transcoder;
}

/** Calls a method and writes its response as JSON, as stored JSON or as an HttpBody. */
export async function answerUnary(
  request: HttpRequest,
  response: HttpResponse,
  spec: UnarySpec,
  { binding, message, call, transcoder }: RestCall,
  parts: {
    /** Counts the memory of the response. */
    readonly hold: (bytes: number) => unknown;
    readonly limits: StreamLimits | undefined;
  },
): Promise<void> {
  const { hold, limits = streamLimits } = parts;
  const answer = create(spec.method.output, await callUnary(spec, message, call));
  const content = httpBodyOf(binding, answer);
  if (content) {
    const { contentType, data } = content;
    hold(data.length);
    answerContent(response, 200, data, { ...call.answerHeaders, "content-type": contentType });
    return;
  }
  const raw = rawFieldOf(answer);
  const around = raw && transcoder.writeAround(binding, answer, raw.field.localName);
  if (around && "jsonZstd" in raw.json) {
    const stored = raw.json;
    const acceptEncoding = headerOf(request, "accept-encoding") ?? "";
    const sendsZstd = takesEncoding(acceptEncoding, "zstd");
    hold(sendsZstd ? 2 * stored.jsonZstd.length : heldBytesOf(stored));
    await answerStored(response, stored, around, { call, acceptEncoding, limits });
    return;
  }
  const json =
    around && "write" in raw.json
      ? `${around.head}${await raw.json.write()}${around.tail}`
      : transcoder.write(binding, answer);
  hold(json.length);
  answerJson(response, 200, json, call.answerHeaders);
}

/** Calls a method and writes its stream of responses as events, lines of JSON or bytes. */
export async function answerStreaming(
  request: HttpRequest,
  response: HttpResponse,
  spec: StreamSpec,
  { binding, message, call, transcoder }: RestCall,
  parts: { readonly answerError: AnswerError; readonly limits: StreamLimits | undefined },
): Promise<void> {
  const { answerError, limits = streamLimits } = parts;
  const answers = spec.impl(message, call);
  const { output } = spec.method;
  const isHead = request.method === "HEAD";
  if (answersHttpBody(binding)) {
    const contentOf = (answer: Answer): HttpContent => {
      const content = httpBodyOf(binding, create(output, answer));
      if (content === undefined)
        throw new Error(`${spec.method.name} does not answer with an HttpBody`);
      return content;
    };
    const contentTypeOf = (first: Answer | undefined) =>
      first ? contentOf(first).contentType : bytesType;
    if (isHead) await answerHead(response, answers, { call, contentTypeOf, limits });
    else await answerBytes(response, answers, { call, contentOf, answerError, limits });
    return;
  }
  const envelope = acceptStream(request.headers.accept);
  if (isHead) {
    const contentTypeOf = () => envelope.contentType;
    await answerHead(response, answers, { call, contentTypeOf, limits });
    return;
  }
  const write = (answer: Answer) =>
    sharedBytes(answer, { binding, envelope }, () =>
      Buffer.from(envelope.result(transcoder.write(binding, create(output, answer)))),
    );
  await answerStream(response, answers, { call, envelope, write, answerError, limits });
}

async function callUnary(spec: UnarySpec, message: Message, call: CallContext) {
  try {
    const answer = spec.impl(message, call);
    // A deadline also ends a method that ignores its signal.
    if (call.timeoutMs() === undefined || !(answer instanceof Promise)) return await answer;
    return await unlessAborted(answer, call.signal);
  } catch (error) {
    // An error that a method throws because it was aborted is not a failure of the method.
    throw error instanceof ServiceError ? error : (call.reason ?? error);
  }
}

interface Written {
  readonly binding: Binding;
  readonly envelope: StreamEnvelope;
  readonly bytes: Uint8Array;
}

const writtenAnswers = new WeakMap<object, Written[]>();

/**
 * Many streams may send the same message, for example streams that watch one job. The streams share
 * the message's bytes, even while the bytes wait to be sent.
 */
function sharedBytes(
  answer: Answer,
  { binding, envelope }: Pick<Written, "binding" | "envelope">,
  write: () => Uint8Array,
): Uint8Array {
  const written = writtenAnswers.get(answer) ?? [];
  const same = written.find((each) => each.binding === binding && each.envelope === envelope);
  if (same) return same.bytes;
  const bytes = write();
  writtenAnswers.set(answer, [...written, { binding, envelope, bytes }]);
  return bytes;
}
