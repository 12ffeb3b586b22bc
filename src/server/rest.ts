import type { DescMethod } from "@bufbuild/protobuf";
import type { Authenticator } from "../auth/authenticate.ts";
import type { Session } from "../auth/session-store.ts";
import type { CallRecorder, RecordedCall } from "../metrics/recorders.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { acceptStream } from "../transcoding/accept-stream.ts";
import type { Binding } from "../transcoding/http-rules.ts";
import { endedEventId, eventStream } from "../transcoding/stream-envelope.ts";
import { methodNotAllowed, type Routed, type Transcoder } from "../transcoding/transcoder.ts";
import { currentSpan, noteCall } from "../tracing/tracing.ts";
import type { AnswerError } from "./answer-errors.ts";
import { holdAnswer } from "./held-answers.ts";
import type { StreamLimits } from "./answer-stream.ts";
import { bodyBytesMaxDefault, bodyBytesMaxOf } from "./body-bytes-max.ts";
import { CallContext } from "./call-context.ts";
import { callOriginOf } from "./call-origin.ts";
import type { Contract } from "./contract.ts";
import { callTimeoutMs } from "./call-timeout.ts";
import {
  breakOffSoon,
  headerOf,
  plainVerb,
  targetOf,
  writeHead,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { readBody } from "./request-body.ts";
import type { MessageReading } from "./message-reading.ts";
import type { Methods } from "./methods.ts";
import { OpenCalls } from "./open-calls.ts";
import { noted, recordedName, unrecorded } from "./record-calls.ts";
import { answerStreaming, answerUnary, type StreamSpec, type UnarySpec } from "./rest-answer.ts";
import { restMessage } from "./rest-message.ts";

interface RestParts {
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  readonly reading: MessageReading;
  /** The memory for responses. */
  readonly answers: HeldBytes;
  /** Aborts when calls in flight must end. */
  readonly shutdownSignal: AbortSignal;
  readonly limits?: StreamLimits;
  readonly recorder?: CallRecorder;
}

/** A call from the console: its target without the console's prefix, and the session. */
export interface ConsoleCall {
  readonly target: string;
  readonly session: Session;
}

export type RestDoor = (
  request: HttpRequest,
  response: HttpResponse,
  by?: ConsoleCall,
) => Promise<void>;

/**
 * The REST door. It finds the route, authenticates, reads, binds, calls and writes, and its checks
 * come in this order (api: Errors). It also serves methods that respond with a stream. Methods with
 * a request stream need a WebSocket.
 */
export function createRestDoor(
  { transcoder, methods }: Pick<Contract, "transcoder" | "methods">,
  parts: RestParts,
): RestDoor {
  checkKinds(transcoder.bindings);
  // The limits are read once, since an option of the contract is decoded on each access.
  const bytesMaxOf = new Map([...methods.keys()].map((method) => [method, bodyBytesMaxOf(method)]));
  const { authenticator, reading, shutdownSignal, recorder = unrecorded } = parts;
  const calls = new OpenCalls(shutdownSignal);

  const answer = async (recorded: RecordedCall, ...[request, response, by]: RestCallOf) => {
    const target = plainVerb(by?.target ?? targetOf(request));
    const routed = routeCall(transcoder, request.method ?? "GET", target);
    const { binding } = routed;
    const { method } = binding;
    noteCall({ method: `${method.parent.typeName}/${method.name}`, protocol: "rest" });
    currentSpan()?.rename(`${binding.httpMethod} ${binding.template}`);
    recorded.called(recordedName(method), method.methodKind === "unary");
    const headers = { get: (name: string) => headerOf(request, name.toLowerCase()) ?? null };
    const origin = callOriginOf(request);
    const facts = { headers, url: target, origin, session: by?.session };
    const caller = await authenticator.authenticate(facts, method);
    const spec = specOf(methods, method);
    if (spec.kind === "server_streaming" && isOver(request)) {
      writeHead(response, 204, {});
      response.end();
      return;
    }
    checkContentEncoding(request);
    const timeoutMs = callTimeoutMs(request);
    using share = reading.held.hold(caller.accountId);
    const bytesMax = bytesMaxOf.get(method) ?? bodyBytesMaxDefault;
    const body = await readBody(request, bytesMax, share, reading.bodyLimits);
    const sent = { caller, share, request, response };
    const message = await restMessage(routed, body, sent, { transcoder, reading });

    const called = { protocolName: "rest", method, url: target, caller, timeoutMs } as const;
    using call = new CallContext(request, called);
    using _open = calls.add(call, request, response);
    // A stream ends when the credential that opened it is revoked.
    using _watched =
      spec.kind === "server_streaming"
        ? authenticator.watch(caller, method, (reason) => {
            call.abort(reason);
            breakOffSoon(response);
          })
        : undefined;
    const answered = { binding, message, call, transcoder };
    if (spec.kind === "unary") {
      const hold = (bytes: number) => holdAnswer(parts.answers, caller.accountId, response, bytes);
      await answerUnary(request, response, spec, answered, { hold, limits: parts.limits });
    } else {
      const answerError: AnswerError = (error) =>
        noted(recorded, parts.answerError(error, origin.requestId));
      const { limits } = parts;
      await answerStreaming(request, response, spec, answered, { answerError, limits });
    }
  };

  return async (request, response, by) => {
    const recorded = recorder.begin("rest");
    try {
      await answer(recorded, request, response, by);
    } catch (error) {
      throw noted(recorded, parts.answerError(error, callOriginOf(request).requestId));
    } finally {
      recorded.end();
    }
  };
}

type RestCallOf = Parameters<RestDoor>;

/**
 * Returns how a method is called over REST. Throws 426 for a method that needs a WebSocket, but
 * only after the token was checked. A client with a refused WebSocket can therefore find out the
 * reason with a plain request.
 */
function specOf(methods: Methods, method: DescMethod): UnarySpec | StreamSpec {
  const spec = methods.get(method);
  if (spec === undefined) throw new Error(`${method.name} is not implemented`);
  if (spec.kind !== "unary" && spec.kind !== "server_streaming") throw upgradeRequired();
  return spec;
}

/**
 * An EventSource that has received the last event of a stream reconnects. A 204 response makes it
 * stop (HTML, section 9.2.3).
 */
function isOver(request: HttpRequest): boolean {
  return (
    request.headers["last-event-id"] === endedEventId &&
    acceptStream(request.headers.accept) === eventStream
  );
}

/** Throws for a rule that no door can serve, which is a bug in the contract. */
function checkKinds(bindings: readonly Binding[]): void {
  for (const { method, httpMethod } of bindings) {
    const isSocket = httpMethod === "WEBSOCKET";
    const isBidi = method.methodKind === "bidi_streaming";
    if (method.methodKind !== "client_streaming" && (isBidi === isSocket || httpMethod === "*")) {
      continue;
    }
    const name = `${method.parent.typeName}.${method.name}`;
    throw new Error(`${name} is ${method.methodKind}: it cannot be served as ${httpMethod}`);
  }
}

/** Finds the method of a call, even one that needs a WebSocket. */
function routeCall(transcoder: Transcoder, httpMethod: string, target: string): Routed {
  try {
    return transcoder.route(httpMethod, target);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const allowed = error.metadata["allow"]?.split(", ") ?? [];
    if (httpMethod === "HEAD" && allowed.includes("GET")) return transcoder.route("GET", target);
    if (!allowed.includes("WEBSOCKET")) throw error;
    // A WebSocket begins with a GET request. If the path serves nothing else, other methods get the
    // same error.
    if (allowed.length === 1 || httpMethod === "GET") return transcoder.route("WEBSOCKET", target);
    const others = allowed.filter((method) => method !== "WEBSOCKET" && method !== "GET");
    throw methodNotAllowed(target.split("?", 1)[0] ?? "", httpMethod, ["GET", ...others]);
  }
}

function upgradeRequired(): ServiceError {
  return new ServiceError("unimplemented", "this is a stream: connect to it as a WebSocket", {
    reason: "UPGRADE_REQUIRED",
    httpStatus: 426,
  });
}

/** Bodies are not compressed. The Content-Type does not matter: they are JSON. */
function checkContentEncoding(request: HttpRequest): void {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return;
  throw new ServiceError(
    "invalid_argument",
    `Content-Encoding ${shown(encoding)} is not accepted: send the body uncompressed`,
    { reason: "UNSUPPORTED_MEDIA_TYPE", httpStatus: 415 },
  );
}
