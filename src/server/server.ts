import { createRegistry } from "@bufbuild/protobuf";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import type { IsInNetworks } from "../std/networks.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { ServiceError } from "../std/service-error.ts";
import type { ServiceConfig } from "../transcoding/service-config.ts";
import { createTranscoder } from "../transcoding/transcoder.ts";
import { createAnswerError } from "./answer-errors.ts";
import { defaultAnswers } from "./answers-in-hand.ts";
import { createConsoleDoor, type ConsoleParts } from "./console-door.ts";
import { createConsoleFiles } from "./console-files.ts";
import { bodyLimits as bodyLimitsDefault, type BodyLimits } from "./body-pace.ts";
import { callOriginOf, findCallOrigin } from "./call-origin.ts";
import { createDocsDoor } from "./docs/docs-door.ts";
import { createDraining } from "./draining.ts";
import { createGrpcDoor } from "./grpc.ts";
import { createGrpcHealth } from "./grpc-health.ts";
import { createGrpcReflection } from "./grpc-reflection.ts";
import { createHealthDoor, createReadiness, type ReadinessCheck } from "./health.ts";
import {
  answerFailure,
  askForBody,
  breakOff,
  giveUpReading,
  targetOf,
  type HttpHandler,
  type HttpListener,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { logRuleNotices } from "./http-rules-file.ts";
import { methodsOf, type ImplementedService } from "./methods.ts";
import { describeApi } from "./openapi.ts";
import { createPageOrigins } from "./page-origins.ts";
import { openPort, type Doors, type PortLimits } from "./port.ts";
import { refuse, refuseMalformed } from "./refuse.ts";
import { createRestDoor } from "./rest.ts";
import { createWebSocketDoor } from "./websocket.ts";

/** How long calls in flight may take once the service is told to stop; then they are told, and a moment later cut. */
const drainMsMax = 15_000;
const tellMs = 500;

export interface Server extends AsyncDisposable {
  /** http://<host>:<port>, as bound. */
  readonly address: string;
}

/** A door that looks at the target before the contract does: signed URLs of media. */
export interface TargetDoor {
  handles(target: string): boolean;
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
}

/**
 * Opens every door of the services on one port: REST, WebSocket, gRPC, gRPC-Web, Connect, health and media. Disposing it drains:
 * streams get their finals, calls in flight their answers, for at most 15 s.
 */
export async function openServer(parts: {
  readonly host: string;
  readonly port: number;
  readonly services: readonly ImplementedService[];
  readonly authenticator: Authenticator;
  readonly media: TargetDoor | undefined;
  /** undefined: nobody signs in here. */
  readonly console?: ConsoleParts | undefined;
  readonly readiness: readonly ReadinessCheck[];
  readonly explain: (error: unknown) => ServiceError | undefined;
  /** Where callers find the service, without a slash at the end, known once it listens; undefined: no API reference. */
  readonly publicUrl?: () => string;
  /** Proxies whose X-Forwarded-For is believed. Default: none. */
  readonly isTrustedProxy?: IsInNetworks;
  /** Origins of pages that may call from elsewhere; anyOrigin for all. Default: none. */
  readonly allowedOrigins?: readonly string[];
  readonly limits?: Partial<PortLimits>;
  readonly bodyLimits?: BodyLimits;
  /** Rules that take the place of the contract's. */
  readonly httpRules?: ServiceConfig | undefined;
  /** What answers hold in memory. */
  readonly answers?: HeldBytes;
  readonly log: Log;
}): Promise<Server> {
  const { services, authenticator, media, httpRules, log, bodyLimits = bodyLimitsDefault } = parts;
  const { answers = defaultAnswers() } = parts;
  const answerError = createAnswerError(parts.explain, (bug, requestId) => {
    log.error({ ...errorFields(bug), requestId }, "call.broken");
  });
  const contract = services.map(({ service }) => service);
  // What a google.rpc.Status may carry.
  const registry = createRegistry(file_google_rpc_error_details);
  const transcoder = createTranscoder(contract, { registry, ...httpRules });
  logRuleNotices(transcoder.notices, httpRules, log);
  const methods = methodsOf(services);
  const readiness = createReadiness(parts.readiness);
  const health = createHealthDoor(readiness);
  const draining = createDraining();
  const shutdown = new AbortController();
  const rest = createRestDoor({
    transcoder,
    methods,
    authenticator,
    answerError,
    shutdownSignal: shutdown.signal,
    bodyLimits,
    answers,
  });
  const consoleDoor = parts.console && createConsoleDoor(parts.console, rest);
  const consoleFiles =
    parts.console && createConsoleFiles(parts.console.folder, parts.console.mediaOrigins);
  const webSocket = createWebSocketDoor({ transcoder, methods, authenticator, answerError });

  const { publicUrl } = parts;
  // A server without a contract, such as a worker, has nothing to describe.
  const docs =
    publicUrl &&
    services.length > 0 &&
    createDocsDoor(() => describeApi(transcoder.bindings, { registry, url: publicUrl() }));

  const serve: HttpHandler = (request, response) => {
    if (docs && docs.handles(targetOf(request))) return docs.handle(request, response);
    if (health.handles(request)) return health.handle(request, response);
    if (media?.handles(targetOf(request))) return media.handle(request, response);
    if (consoleDoor?.handles(targetOf(request))) return consoleDoor.handle(request, response);
    if (consoleFiles?.handles(targetOf(request))) return consoleFiles.handle(request, response);
    return rest(request, response);
  };
  const otherwise: HttpListener = (request, response) => {
    serve(request, response)
      .catch((error: unknown) => {
        answerFailure(response, answerError(error, callOriginOf(request).requestId));
      })
      // Not even the failure could be written: without this, one such answer ends the process.
      .catch((bug: unknown) => {
        log.error(errorFields(bug), "call.broken");
        breakOff(response);
      });
  };
  const grpcHealth = createGrpcHealth({
    services: contract,
    readiness,
    draining: draining.signal,
  });
  const reflection = createGrpcReflection(
    [...contract, grpcHealth.service],
    [file_google_rpc_error_details],
  );
  const grpc = createGrpcDoor({
    services,
    // A server without a contract, such as a worker, has nothing to tell but its health.
    open: services.length > 0 ? [grpcHealth, ...reflection] : [grpcHealth],
    authenticator,
    answerError,
    draining,
    answers,
    shutdownSignal: shutdown.signal,
    bodyLimits,
    otherwise,
  });
  const pages = createPageOrigins(parts.allowedOrigins ?? [], () => publicUrl?.());
  const { isTrustedProxy = () => false } = parts;
  const handle: HttpListener = (request, response) => {
    const { requestId } = findCallOrigin(request, isTrustedProxy);
    response.setHeader("x-request-id", requestId);
    // What of the body nobody has read by then.
    response.once("finish", () => {
      giveUpReading(response);
    });
    if (pages.answer(request, response)) return;
    // Media is refused by its headers, before gigabytes are sent.
    if (!media?.handles(targetOf(request))) askForBody(request, response);
    if (request.httpVersionMajor > 1 || request.headers.host !== undefined) {
      grpc(request, response);
      return;
    }
    answerFailure(response, new ServiceError("invalid_argument", "the Host header is missing"));
  };
  const doors: Doors = {
    handle,
    refuse: refuseMalformed,
    upgrade: (request, socket, head) => {
      const { requestId } = findCallOrigin(request, isTrustedProxy);
      const refusal = pages.refusal(request.headers);
      if (refusal === undefined) {
        webSocket.handleUpgrade(request, socket, head);
        return;
      }
      socket.on("error", () => socket.destroy());
      refuse(socket, refusal, requestId);
    },
  };
  const port = await openPort(parts, doors, parts.limits);

  return {
    address: port.address,
    async [Symbol.asyncDispose]() {
      draining.drain();
      const tell = setTimeout(() => {
        shutdown.abort(new ServiceError("unavailable", "the service is stopping"));
      }, drainMsMax);
      const cut = setTimeout(() => {
        webSocket.terminate();
        port.close();
      }, drainMsMax + tellMs);
      await Promise.all([webSocket.drain(), port.drain()]);
      clearTimeout(tell);
      clearTimeout(cut);
    },
  };
}
