import { Http2ServerResponse } from "node:http2";
import {
  createRegistry,
  type DescMethod,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import { createContextKey, createContextValues, type Interceptor } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticate.ts";
import { callerKey, type Caller } from "../auth/caller.ts";
import type { HeldBytes, HeldShare } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { answerErrors, connectError, rpcCode, type AnswerError } from "./answer-errors.ts";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { bodyBytesMaxDefault, bodyBytesMaxOf } from "./body-bytes-max.ts";
import type { BodyLimits } from "./body-pace.ts";
import { callOriginOf, originKey } from "./call-origin.ts";
import type { Draining } from "./draining.ts";
import { endCalls, responseKey } from "./end-calls.ts";
import {
  giveUpReading,
  headersOf,
  isClosed,
  targetOf,
  type HttpListener,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { isContentCoding } from "./decompress.ts";
import type { MessageReading } from "./message-reading.ts";
import { createRpcAdapter } from "./rpc-adapter.ts";
import { writeAnswers } from "./rpc-answers.ts";
import type { ImplementedService } from "./methods.ts";
import { pacedBody } from "./paced-body.ts";
import { rpcBody, rpcFormatOf, takesOneMessage, type Finish } from "./rpc-body.ts";

/** Longest message of a service that asks for no token. */
const openMessageBytesMax = 16 << 10;
/** Streams without a token that may be open at once. */
const openStreamsMax = 1_000;

/** What the interceptors know of a request. */
interface RpcCall {
  readonly response: HttpResponse;
  readonly authenticate: () => Promise<Caller>;
  /** For the messages that were handed on, in their order. */
  readonly finishing: Finish[];
}

const callKey = createContextKey<RpcCall | undefined>(undefined, { description: "the request" });

/** gRPC, gRPC-Web and Connect on one handler; what is none of them goes to `otherwise`. */
export function createGrpcDoor(parts: {
  readonly services: readonly ImplementedService[];
  /** The door's own services, health and reflection: they ask for no token. */
  readonly open: readonly ImplementedService[];
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  readonly draining: Draining;
  /** What answers hold in memory. */
  readonly answers: HeldBytes;
  readonly shutdownSignal: AbortSignal;
  /** For requests of one message. */
  readonly bodyLimits: BodyLimits;
  readonly reading: MessageReading;
  readonly otherwise: HttpListener;
}): HttpListener {
  const methods = new Map(
    [...parts.services, ...parts.open].flatMap(({ service }) =>
      service.methods.map((method) => [`/${service.typeName}/${method.name}`, method]),
    ),
  );
  const open = new Set(parts.open.map(({ service }) => service));
  const bytesMaxOf = new Map(
    [...methods.values()].map((method) => [
      method,
      open.has(method.parent) ? openMessageBytesMax : bodyBytesMaxOf(method),
    ]),
  );
  const calls = new WeakMap<HttpRequest, RpcCall>();
  /**
   * The token is looked at before the body, which may be long; once, for what reads the body and
   * what calls the method.
   */
  const guard = (request: HttpRequest, response: HttpResponse, method: DescMethod) => {
    const origin = callOriginOf(request);
    const authenticate = once(async () => {
      const facts = { headers: headersOf(request), url: targetOf(request), origin };
      return await parts.authenticator.authenticate(facts, method);
    });
    const finishing: Finish[] = [];
    calls.set(request, { response, authenticate, finishing });
    const rpc = rpcFormatOf(request) ?? { framing: "whole", format: "binary", coding: undefined };
    const body = async function* () {
      try {
        const caller = open.has(method.parent) ? undefined : await authenticate();
        const accountId = caller?.accountId ?? "";
        const { share, signal } = ofAnswer(response, parts.reading.held.hold(accountId));
        // Streams of requests are silent at times; their methods know for how long.
        const limits = takesOneMessage(method) ? parts.bodyLimits : undefined;
        const bytesMax = bytesMaxOf.get(method) ?? bodyBytesMaxDefault;
        const { reading } = parts;
        const onMessage = (finish: Finish) => void finishing.push(finish);
        const call = { method, rpc, bytesMax, accountId, share, signal, reading, onMessage };
        yield* rpcBody(pacedBody(request, limits), call);
      } catch (error) {
        throw connectError(parts.answerError(error, origin.requestId));
      }
    };
    Object.defineProperty(request, Symbol.asyncIterator, { value: body });
    if (rpc.framing === "whole") describeWhole(request, rpc.coding);
  };
  const adapter = createRpcAdapter({
    routes: (router) => {
      for (const { service, implementation } of [...parts.services, ...parts.open]) {
        router.service(service, implementation);
      }
    },
    // The last one is the innermost.
    interceptors: [
      answerErrors(parts.answerError),
      unless(open, authenticate, limitStreams(openStreamsMax)),
      unless(open, endCalls(parts.authenticator, parts.shutdownSignal), (next) => next),
      parts.draining.interceptor,
      unless(open, writeAnswers(parts.answers), (next) => next),
      finishMessages,
    ],
    contextValues: (request) =>
      createContextValues()
        .set(originKey, callOriginOf(request))
        .set(responseKey, calls.get(request)?.response)
        .set(callKey, calls.get(request)),
    // What is longer is refused before it comes here.
    readMaxBytes: Math.max(...bytesMaxOf.values()),
    // The JSON of Connect and gRPC-Web: what a google.rpc.Status may carry, as that of a job.
    jsonOptions: { registry: createRegistry(file_google_rpc_error_details) },
    binaryOptions: { readUnknownFields: false },
    shutdownSignal: parts.shutdownSignal,
  });
  return (request, response) => {
    const [path = ""] = targetOf(request).split("?", 1);
    const method = methods.get(path);
    if (method) {
      guard(request, response, method);
      adapter(request, withPlainMessages(response));
    } else if (isGrpc(request.headers["content-type"])) answerUnimplemented(path, response);
    else parts.otherwise(request, response);
  };
}

/** gRPC itself; gRPC-Web and Connect clients read the status of HTTP. */
function isGrpc(contentType: string | undefined): boolean {
  return /^application\/grpc(?:[+;]|$)/.test(contentType ?? "");
}

/** A status without messages: headers only (gRPC over HTTP2, Responses). */
function answerUnimplemented(path: string, response: HttpResponse): void {
  const error = new ServiceError("unimplemented", `${path.slice(0, 200)} is not served here`);
  void giveUpReading(response);
  response.setHeader("content-type", "application/grpc");
  response.setHeader("grpc-status", `${rpcCode(error)}`);
  response.setHeader("grpc-message", statusMessage(error.message));
  response.end();
}

/**
 * Printable ASCII but % goes as it is (gRPC over HTTP2, Status-Message). The library encodes more
 * of it, and grpc-js shows that to people: it decodes no more than what had to be encoded.
 */
function statusMessage(message: string): string {
  return message.replaceAll(/[^ -$&-~]+/g, (part) => encodeURIComponent(part.toWellFormed()));
}

function withPlainMessages(response: HttpResponse): HttpResponse {
  if (!(response instanceof Http2ServerResponse)) return response;
  const add = response.addTrailers.bind(response);
  response.addTrailers = (trailers) => {
    const encoded = trailers["grpc-message"];
    const message = typeof encoded === "string" && statusMessage(decodeURIComponent(encoded));
    add({ ...trailers, ...(message && { "grpc-message": message }) });
  };
  return response;
}

/** The one interceptor for calls of the services that are open, the other for all others. */
function unless(open: ReadonlySet<DescService>, other: Interceptor, own: Interceptor): Interceptor {
  return (next) => {
    const [forOther, forOwn] = [other(next), own(next)];
    return async (request) => await (open.has(request.method.parent) ? forOwn : forOther)(request);
  };
}

/** Until the answer is out, or nobody waits for it: what the call holds, and a signal. */
function ofAnswer(response: HttpResponse, share: HeldShare) {
  const gone = new AbortController();
  const end = () => {
    share[Symbol.dispose]();
    gone.abort(new ServiceError("cancelled", "the caller went away"));
  };
  if (isClosed(response)) end();
  else response.once("close", end);
  return { share, signal: gone.signal };
}

/**
 * What the adapter sees of a message that was read for it: neither its length nor its compression.
 */
function describeWhole(request: HttpRequest, coding: string | undefined): void {
  const { "content-length": _length, ...headers } = request.headers;
  if (isContentCoding(coding)) delete headers["content-encoding"];
  Object.defineProperty(request, "headers", { value: headers });
}

/** Gives messages what was read of them elsewhere. */
const finishMessages: Interceptor = (next) => async (request) => {
  const finishing = request.contextValues.get(callKey)?.finishing ?? [];
  const finish = (message: Message): Message => finishing.shift()?.(message) ?? message;
  if (!request.stream) return await next({ ...request, message: finish(request.message) });
  if (!takesOneMessage(request.method)) return await next(request);
  async function* finished(messages: AsyncIterable<Message>): AsyncIterable<Message> {
    for await (const message of messages) yield finish(message);
  }
  return await next({ ...request, message: finished(request.message) });
};

const authenticate: Interceptor = (next) => async (request) => {
  const caller = await request.contextValues.get(callKey)?.authenticate();
  request.contextValues.set(callerKey, caller);
  return await next(request);
};

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= work());
}

/** Lets so many streams be open at once: nobody can be told who holds them. */
function limitStreams(max: number): Interceptor {
  let count = 0;
  async function* counted<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
    if (count >= max) {
      throw new ServiceError("resource_exhausted", `${max} streams without a token are open`);
    }
    count += 1;
    try {
      yield* messages;
    } finally {
      count -= 1;
    }
  }
  return (next) => async (request) => {
    const response = await next(request);
    return response.stream ? { ...response, message: counted(response.message) } : response;
  };
}
