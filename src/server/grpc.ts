import { Http2ServerResponse } from "node:http2";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { createContextKey, createContextValues, type Interceptor } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticate.ts";
import { callerKey, type Caller } from "../auth/caller.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { answerErrors, connectError, rpcCode, type AnswerError } from "./answer-errors.ts";
import type { BodyLimits } from "./body-pace.ts";
import { callOriginOf, originKey } from "./call-origin.ts";
import type { Draining } from "./draining.ts";
import { endWhenRevoked, responseKey } from "./end-when-revoked.ts";
import {
  giveUpReading,
  headersOf,
  targetOf,
  type HttpListener,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { paceBody } from "./paced-body.ts";
import { createRpcAdapter } from "./rpc-adapter.ts";
import { writeAnswers } from "./rpc-answers.ts";
import type { ImplementedService } from "./methods.ts";

/** Longest message: a transcript at its limit. */
const messageBytesMax = 32 << 20;
/** Longest message of a service that asks for no token. */
const openMessageBytesMax = 64 << 10;
/** Streams without a token that may be open at once. */
const openStreamsMax = 1_000;

type Authenticate = () => Promise<Caller>;

const authenticateKey = createContextKey<Authenticate | undefined>(undefined, {
  description: "tells who calls",
});

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
  readonly otherwise: HttpListener;
}): HttpListener {
  const methods = new Map(
    [...parts.services, ...parts.open].flatMap(({ service }) =>
      service.methods.map((method) => [`/${service.typeName}/${method.name}`, method]),
    ),
  );
  const open = new Set(parts.open.map(({ service }) => service));
  const responses = new WeakMap<HttpRequest, HttpResponse>();
  const authenticating = new WeakMap<HttpRequest, Authenticate>();
  /** The token is looked at before the body, which may be long; once, for what reads the body and what calls the method. */
  const guard = (request: HttpRequest, method: DescMethod) => {
    const origin = callOriginOf(request);
    const authenticate = once(async () => {
      const facts = { headers: headersOf(request), url: targetOf(request), origin };
      return await parts.authenticator.authenticate(facts, method);
    });
    authenticating.set(request, authenticate);
    // Streams of requests are silent at times; their methods know for how long.
    const isWhole = method.methodKind === "unary" || method.methodKind === "server_streaming";
    paceBody(request, isWhole ? parts.bodyLimits : undefined, async () => {
      if (open.has(method.parent)) return;
      await authenticate().catch((error: unknown) => {
        throw connectError(parts.answerError(error, origin.requestId));
      });
    });
  };
  const adapter = createRpcAdapter({
    routes: (router) => {
      for (const { service, implementation } of parts.services) {
        router.service(service, implementation);
      }
      for (const { service, implementation } of parts.open) {
        router.service(service, implementation, { readMaxBytes: openMessageBytesMax });
      }
    },
    // The last one is the innermost.
    interceptors: [
      answerErrors(parts.answerError),
      unless(open, authenticate, limitStreams(openStreamsMax)),
      unless(open, endWhenRevoked(parts.authenticator), (next) => next),
      parts.draining.interceptor,
      unless(open, writeAnswers(parts.answers), (next) => next),
    ],
    contextValues: (request) =>
      createContextValues()
        .set(originKey, callOriginOf(request))
        .set(responseKey, responses.get(request))
        .set(authenticateKey, authenticating.get(request)),
    readMaxBytes: messageBytesMax,
    shutdownSignal: parts.shutdownSignal,
  });
  return (request, response) => {
    const [path = ""] = targetOf(request).split("?", 1);
    const method = methods.get(path);
    if (method) {
      responses.set(request, response);
      guard(request, method);
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
  giveUpReading(response);
  response.setHeader("content-type", "application/grpc");
  response.setHeader("grpc-status", `${rpcCode(error)}`);
  response.setHeader("grpc-message", statusMessage(error.message));
  response.end();
}

/**
 * Printable ASCII but % goes as it is (gRPC over HTTP2, Status-Message). The library encodes more of it, and grpc-js shows that to
 * people: it decodes no more than what had to be encoded.
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

const authenticate: Interceptor = (next) => async (request) => {
  const caller = await request.contextValues.get(authenticateKey)?.();
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
