import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import { createContextKey, type Interceptor } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticate.ts";
import { callerKey, type Caller } from "../auth/caller.ts";
import type { RecordedCall } from "../metrics/recorders.ts";
import type { HeldShare } from "../std/held-bytes.ts";
import { connectError, type AnswerError } from "./answer-errors.ts";
import { bodyBytesMaxOf } from "./body-bytes-max.ts";
import { callOriginOf } from "./call-origin.ts";
import { clientGone } from "./client-gone.ts";
import { isContentCoding } from "./decompress.ts";
import { decodeText, presentAsBinary } from "./grpc-web-text.ts";
import { headersOf, isClosed, targetOf, type HttpRequest, type HttpResponse } from "./http.ts";
import type { MessageReading } from "./message-reading.ts";
import { pacedBody } from "./paced-body.ts";
import { noted } from "./record-calls.ts";
import { rpcBody, rpcFormatOf, takesOneMessage, type Finish } from "./rpc-body.ts";

/** The maximum message size of a service that needs no token. */
const openMessageBytesMax = 16 << 10;

/** The facts about a request that the interceptors use. */
export interface RpcRequest {
  readonly response: HttpResponse;
  /** Authenticates once for both the body and the method. */
  readonly authenticate: () => Promise<Caller>;
  /**
   * The functions that complete the messages passed to the adapter, in the order of the messages.
   */
  readonly finishing: Finish[];
  /** The Content-Type of the response to a request in the text mode of gRPC-Web. */
  readonly textType: string | undefined;
  readonly recorded: RecordedCall;
}

export const rpcRequestKey = createContextKey<RpcRequest | undefined>(undefined, {
  description: "the request",
});

export interface RpcMethod {
  readonly desc: DescMethod;
  /** Whether the method needs no token. */
  readonly isOpen: boolean;
  readonly bytesMax: number;
}

/**
 * Returns the maximum message size of a method in bytes. `open` contains the services that need no
 * token.
 */
export function messageBytesMaxOf(method: DescMethod, open: ReadonlySet<DescService>): number {
  return open.has(method.parent) ? openMessageBytesMax : bodyBytesMaxOf(method);
}

/**
 * Prepares a request for the library's adapter. The body is replaced with one that is read within
 * the limits of the service, and only after the token was checked, since a body may be long.
 */
export function prepareRpcRequest(
  request: HttpRequest,
  response: HttpResponse,
  { desc, isOpen, bytesMax }: RpcMethod,
  parts: {
    readonly authenticator: Authenticator;
    readonly answerError: AnswerError;
    readonly reading: MessageReading;
    readonly recorded: RecordedCall;
  },
): RpcRequest {
  const { reading, recorded } = parts;
  const origin = callOriginOf(request);
  const authenticate = once(async () => {
    const facts = { headers: headersOf(request), url: targetOf(request), origin };
    return await parts.authenticator.authenticate(facts, desc);
  });
  const finishing: Finish[] = [];
  const textType = presentAsBinary(request);
  const rpc = rpcFormatOf(request) ?? { framing: "whole", format: "binary", coding: undefined };
  const body = async function* () {
    try {
      const accountId = isOpen ? "" : (await authenticate()).accountId;
      const { share, signal } = untilAnswered(response, reading.held.hold(accountId));
      // Request streams are silent at times, and their methods have their own time limits.
      const limits = takesOneMessage(desc) ? reading.bodyLimits : undefined;
      const onMessage = (finish: Finish) => void finishing.push(finish);
      const call = { method: desc, rpc, bytesMax, accountId, share, signal, reading, onMessage };
      const chunks = pacedBody(request, limits);
      yield* rpcBody(textType === undefined ? chunks : decodeText(chunks), call);
    } catch (error) {
      throw connectError(noted(recorded, parts.answerError(error, origin.requestId)));
    }
  };
  Object.defineProperty(request, Symbol.asyncIterator, { value: body });
  if (rpc.framing === "whole") describeWhole(request, rpc.coding);
  return { response, authenticate, finishing, textType, recorded };
}

/**
 * Returns the memory share of a call and a signal. Both end when the response was sent or the
 * client has disconnected.
 */
function untilAnswered(response: HttpResponse, share: HeldShare) {
  const gone = new AbortController();
  const end = () => {
    share[Symbol.dispose]();
    gone.abort(clientGone());
  };
  if (isClosed(response)) end();
  else response.once("close", end);
  return { share, signal: gone.signal };
}

/**
 * Hides the original length and compression of a message from the adapter, which gets the message
 * already read.
 */
function describeWhole(request: HttpRequest, coding: string | undefined): void {
  const { "content-length": _length, ...headers } = request.headers;
  if (isContentCoding(coding)) delete headers["content-encoding"];
  Object.defineProperty(request, "headers", { value: headers });
}

/** Adds the lists that were read outside the library to their messages. */
export const finishMessages: Interceptor = (next) => async (request) => {
  const finishing = request.contextValues.get(rpcRequestKey)?.finishing ?? [];
  const finish = (message: Message): Message => finishing.shift()?.(message) ?? message;
  if (!request.stream) return await next({ ...request, message: finish(request.message) });
  if (!takesOneMessage(request.method)) return await next(request);
  async function* finished(messages: AsyncIterable<Message>): AsyncIterable<Message> {
    for await (const message of messages) yield finish(message);
  }
  return await next({ ...request, message: finished(request.message) });
};

/** Provides methods with their caller. */
export const authenticateCalls: Interceptor = (next) => async (request) => {
  const caller = await request.contextValues.get(rpcRequestKey)?.authenticate();
  request.contextValues.set(callerKey, caller);
  return await next(request);
};

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= work());
}
