import { create, getOption, hasOption, type DescMethod, type Message } from "@bufbuild/protobuf";
import { createContextValues, createHandlerContext } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticate.ts";
import { callerKey } from "../auth/caller.ts";
import { body_bytes_max } from "../gen/hlust/api/annotations_pb.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import type { Routed, Transcoder } from "../transcoding/transcoder.ts";
import {
  answerJson,
  headersOf,
  readBody,
  targetOf,
  type HttpHandler,
  type HttpRequest,
} from "./http.ts";
import type { Methods } from "./methods.ts";

/** Longest JSON body of a method that says nothing else. */
const bodyBytesMaxDefault = 1 << 20;

/** The REST door: route, authenticate, read, bind, call, write; in this order of checks (decisions: Errors). */
export function createRestDoor(parts: {
  readonly transcoder: Transcoder;
  readonly methods: Methods;
  readonly authenticator: Authenticator;
}): HttpHandler {
  return async (request, response) => {
    const target = targetOf(request);
    const routed = routeUnary(parts.transcoder, request.method ?? "GET", target);
    const { method } = routed.binding;
    const headers = headersOf(request);
    const caller = await parts.authenticator.authenticate({ headers, url: target }, method);
    checkContentType(headers);
    const body = await readBody(request, bodyBytesMax(method));
    const message = parts.transcoder.bind(routed, body);

    using calling = abortWhenGone(request, response);
    const context = createHandlerContext({
      service: method.parent,
      method,
      protocolName: "rest",
      requestMethod: request.method ?? "",
      url: target,
      requestHeader: headers,
      requestSignal: calling.signal,
      contextValues: createContextValues().set(callerKey, caller),
    });
    const answer = await callUnary(parts.methods, method, message, context);
    const answerHeaders = Object.fromEntries(context.responseHeader);
    answerJson(response, 200, parts.transcoder.write(routed.binding, answer), answerHeaders);
  };
}

/** Finds a method that one request can call; for one that needs a socket, says so. */
function routeUnary(transcoder: Transcoder, httpMethod: string, target: string): Routed {
  try {
    const routed = transcoder.route(httpMethod, target);
    if (routed.binding.method.methodKind === "unary") return routed;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.metadata["allow"] !== "WEBSOCKET") throw error;
  }
  throw new ServiceError("unimplemented", "this is a stream: connect to it as a WebSocket", {
    reason: "UPGRADE_REQUIRED",
    httpStatus: 426,
  });
}

async function callUnary(
  methods: Methods,
  method: DescMethod,
  message: Message,
  context: ReturnType<typeof createHandlerContext>,
): Promise<Message> {
  const spec = methods.get(method);
  if (spec?.kind !== "unary") throw new Error(`${method.name} is not served over REST`);
  return create(spec.method.output, await spec.impl(message, context));
}

function bodyBytesMax(method: DescMethod): number {
  return hasOption(method, body_bytes_max)
    ? getOption(method, body_bytes_max)
    : bodyBytesMaxDefault;
}

/** Bodies are JSON: said so, not said, or said as `curl -d` does (decisions: JSON). */
function checkContentType(headers: Headers): void {
  const type = (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const accepted = ["", "application/json", "application/x-www-form-urlencoded"];
  const encoding = headers.get("content-encoding") ?? "identity";
  if (accepted.includes(type) && encoding === "identity") return;
  const what =
    encoding === "identity" ? `Content-Type ${shown(type)}` : `Content-Encoding ${shown(encoding)}`;
  throw new ServiceError("invalid_argument", `${what} is not accepted: send application/json`, {
    reason: "UNSUPPORTED_MEDIA_TYPE",
    httpStatus: 415,
  });
}

function gone(): ServiceError {
  return new ServiceError("cancelled", "the caller went away");
}

/** A signal that aborts when the caller leaves before the answer is out. */
function abortWhenGone(
  request: HttpRequest,
  response: Parameters<HttpHandler>[1],
): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) controller.abort(gone());
  };
  response.on("close", onClose);
  if (request.aborted) controller.abort(gone());
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => response.off("close", onClose),
  };
}
