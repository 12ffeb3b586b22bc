import { Http2ServerResponse } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { createContextValues, type Interceptor } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticate.ts";
import type { CallProtocol, CallRecorder, RecordedCall } from "../metrics/recorders.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { currentSpan, noteCall } from "../tracing/tracing.ts";
import { answerErrors, rpcCode, type AnswerError } from "./answer-errors.ts";
import { answerTypes } from "./answer-types.ts";
import { callOriginOf, originKey } from "./call-origin.ts";
import type { Draining } from "./draining.ts";
import { endCalls, responseKey } from "./end-calls.ts";
import {
  targetOf,
  type HttpDoor,
  type HttpListener,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { giveUpReading } from "./request-body.ts";
import type { MessageReading } from "./message-reading.ts";
import type { ImplementedService } from "./methods.ts";
import { recordedName, unrecorded } from "./record-calls.ts";
import { endRpc, noteStatus, recordFailures } from "./record-rpc.ts";
import { createRpcAdapter } from "./rpc-adapter.ts";
import { writeAnswers } from "./rpc-answers.ts";
import {
  authenticateCalls,
  finishMessages,
  messageBytesMaxOf,
  prepareRpcRequest,
  rpcRequestKey,
  type RpcMethod,
  type RpcRequest,
} from "./rpc-request.ts";

/** The maximum number of streams without a token that may be open concurrently. */
const openStreamsMax = 1_000;

interface RpcServices {
  readonly services: readonly ImplementedService[];
  /** The door's own services, health and reflection, which need no token. */
  readonly open: readonly ImplementedService[];
}

interface RpcParts {
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  readonly draining: Draining;
  /** The memory limit for responses. */
  readonly answers: HeldBytes;
  readonly shutdownSignal: AbortSignal;
  readonly reading: MessageReading;
  readonly recorder?: CallRecorder;
}

/** Creates the door of gRPC, gRPC-Web and Connect. */
export function createGrpcDoor({ services, open, ...parts }: RpcServices & RpcParts): HttpDoor {
  const openToAll = new Set(open.map(({ service }) => service));
  const methods = new Map<string, RpcMethod>(
    [...services, ...open].flatMap(({ service }) =>
      service.methods.map((desc) => {
        const isOpen = openToAll.has(service);
        const bytesMax = messageBytesMaxOf(desc, openToAll);
        return [`/${service.typeName}/${desc.name}`, { desc, isOpen, bytesMax }];
      }),
    ),
  );
  const requests = new WeakMap<HttpRequest, RpcRequest>();
  const bytesMax = Math.max(...Array.from(methods.values(), (method) => method.bytesMax));
  const adapter = openAdapter({ services, open }, parts, { requests, bytesMax });
  const methodOf = (request: HttpRequest) => methods.get(pathOf(request));
  const { recorder = unrecorded } = parts;
  return {
    refusesByItself: true,
    handles: (request) =>
      methodOf(request) !== undefined || isGrpc(request.headers["content-type"]),
    handle(request, response) {
      const method = methodOf(request);
      const recorded = recorder.begin(protocolOf(request.headers["content-type"]));
      response.once("close", () => endRpc(recorded, response));
      if (method) {
        currentSpan()?.rename(pathOf(request).slice(1));
        noteCall({ method: pathOf(request).slice(1), ...(isConnect(request) && connect) });
        const { desc } = method;
        recorded.called(recordedName(desc), desc.methodKind === "unary");
        const call = { ...parts, recorded };
        requests.set(request, prepareRpcRequest(request, response, method, call));
        adapter(request, withPlainMessages(response, recorded));
      } else {
        recorded.failed(answerUnimplemented(pathOf(request), response));
      }
      return Promise.resolve();
    },
  };
}

const connect = { protocol: "connect" } as const;

/** Returns whether a call of a method is one of Connect: the other two protocols are gRPC's. */
function isConnect(request: HttpRequest): boolean {
  return !(request.headers["content-type"] ?? "").startsWith("application/grpc");
}

function pathOf(request: HttpRequest): string {
  return targetOf(request).split("?", 1)[0] ?? "";
}

/** Creates the library's adapter with the interceptors of the service. */
function openAdapter(
  { services, open }: RpcServices,
  parts: RpcParts,
  {
    requests,
    bytesMax,
  }: { readonly requests: WeakMap<HttpRequest, RpcRequest>; readonly bytesMax: number },
): HttpListener {
  const isOpen = new Set(open.map(({ service }) => service));
  const asItIs: Interceptor = (next) => next;
  return createRpcAdapter({
    routes: (router) => {
      for (const { service, implementation } of [...services, ...open]) {
        router.service(service, implementation);
      }
    },
    // The last interceptor is the innermost.
    interceptors: [
      recordFailures,
      answerErrors(parts.answerError),
      either(isOpen, asItIs, parts.draining.refusal),
      either(isOpen, limitStreams(openStreamsMax), authenticateCalls),
      either(isOpen, asItIs, endCalls(parts.authenticator, parts.shutdownSignal)),
      parts.draining.interceptor,
      either(isOpen, asItIs, writeAnswers(parts.answers)),
      finishMessages,
    ],
    contextValues: (request) =>
      createContextValues()
        .set(originKey, callOriginOf(request))
        .set(responseKey, requests.get(request)?.response)
        .set(rpcRequestKey, requests.get(request)),
    // Longer messages are refused before they reach this point.
    readMaxBytes: bytesMax,
    // For the JSON of Connect and gRPC-Web.
    jsonOptions: { registry: answerTypes(services.map(({ service }) => service)) },
    binaryOptions: { readUnknownFields: false },
    shutdownSignal: parts.shutdownSignal,
  });
}

/**
 * Returns whether a content type is that of gRPC itself. Clients of gRPC-Web and Connect read the
 * HTTP status.
 */
function isGrpc(contentType: string | undefined): boolean {
  return /^application\/grpc(?:[+;]|$)/.test(contentType ?? "");
}

function protocolOf(contentType: string | undefined): CallProtocol {
  if (isGrpc(contentType)) return "grpc";
  return contentType?.startsWith("application/grpc-web") === true ? "grpc_web" : "connect";
}

/**
 * Sends a status without messages, which consists of headers only (gRPC over HTTP2, Responses).
 */
function answerUnimplemented(path: string, response: HttpResponse): ServiceError {
  const error = new ServiceError("unimplemented", `${path.slice(0, 200)} is not served here`);
  void giveUpReading(response);
  response.setHeader("content-type", "application/grpc");
  response.setHeader("grpc-status", `${rpcCode(error)}`);
  response.setHeader("grpc-message", statusMessage(error.message));
  response.end();
  return error;
}

/**
 * Encodes the message of a status. Printable ASCII except % is sent unchanged (gRPC over HTTP2,
 * Status-Message). The library encodes more, and grpc-js shows users the encoded text, because it
 * decodes only what had to be encoded.
 */
function statusMessage(message: string): string {
  return message.replaceAll(/[^ -$&-~]+/g, (part) => encodeURIComponent(part.toWellFormed()));
}

function withPlainMessages(response: HttpResponse, recorded: RecordedCall): HttpResponse {
  if (!(response instanceof Http2ServerResponse)) return response;
  const add = response.addTrailers.bind(response);
  response.addTrailers = (trailers) => {
    const encoded = trailers["grpc-message"];
    noteStatus(recorded, Number(trailers["grpc-status"] ?? 0));
    const message = typeof encoded === "string" && statusMessage(decodeURIComponent(encoded));
    add({ ...trailers, ...(message && { "grpc-message": message }) });
  };
  return response;
}

/**
 * Uses one interceptor for calls to the services that need no token, and another for all other
 * calls.
 */
function either(
  isOpen: ReadonlySet<DescService>,
  forOpen: Interceptor,
  forOthers: Interceptor,
): Interceptor {
  return (next) => {
    const [open, others] = [forOpen(next), forOthers(next)];
    return async (request) => await (isOpen.has(request.method.parent) ? open : others)(request);
  };
}

/**
 * Permits `max` open streams in total. Without tokens, there are no accounts to divide the streams
 * among.
 */
function limitStreams(max: number): Interceptor {
  let count = 0;
  async function* counted<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
    if (count >= max) {
      throw new ServiceError(
        "resource_exhausted",
        `${max} streams without a token are open: try again later`,
      );
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
