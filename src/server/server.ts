import { createRegistry, type DescService } from "@bufbuild/protobuf";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import type { IsInNetworks } from "../std/networks.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { HeldBytesLimits } from "../std/held-bytes.ts";
import type { LongMessages } from "../std/long-messages.ts";
import { ServiceError } from "../std/service-error.ts";
import type { ServiceConfig } from "../transcoding/service-config.ts";
import { createTranscoder } from "../transcoding/transcoder.ts";
import { createAnswerError } from "./answer-errors.ts";
import { defaultAnswers } from "./held-answers.ts";
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
import { createMessageReading } from "./message-reading.ts";
import { methodsOf, type ImplementedService } from "./methods.ts";
import { describeApi } from "./openapi.ts";
import { createPageOrigins } from "./page-origins.ts";
import { openPort, type Doors, type PortLimits } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";
import { createRestDoor } from "./rest.ts";
import { createWebSocketDoor } from "./websocket.ts";

/**
 * How long calls in flight may take once the service is told to stop; then they are told, and a
 * moment later cut.
 */
const drainMsMax = 15_000;
const tellMs = 500;

export interface Server extends AsyncDisposable {
  /** http://<host>:<port>, as bound. */
  readonly address: string;
  /**
   * From now on health says that it is not ready, so that balancers look elsewhere; calls are
   * answered as before.
   */
  leave(): void;
}

/** A door that looks at the target before the contract does: signed URLs of media. */
export interface TargetDoor {
  handles(target: string): boolean;
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
}

/**
 * Opens every door of the services on one port: REST, WebSocket, gRPC, gRPC-Web, Connect, health
 * and media. Disposing it drains: streams get their finals, calls in flight their answers, for at
 * most 15 s; callers are asked to leave their connections, and the listener closes last.
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
  /**
   * Of the uses of the readiness checks, the one that a service is for; undefined: it needs every
   * part.
   */
  readonly useOf?: (service: DescService) => string | undefined;
  readonly explain: (error: unknown) => ServiceError | undefined;
  /**
   * Where callers find the service, without a slash at the end, known once it listens; undefined:
   * no API reference.
   */
  readonly publicUrl?: () => string;
  /** Proxies whose X-Forwarded-For is believed. Default: none. */
  readonly isTrustedProxy?: IsInNetworks;
  /** Origins of pages that may call from elsewhere; anyOrigin for all. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** E-mail address or URL where people ask for access. */
  readonly contact?: string | undefined;
  readonly limits?: Partial<PortLimits>;
  readonly bodyLimits?: BodyLimits;
  /** What request bodies may take of the node's memory. */
  readonly requestBytes?: HeldBytesLimits;
  /** Reads messages with long lists; undefined: there are none. */
  readonly longMessages?: LongMessages;
  /** Rules that take the place of the contract's. */
  readonly httpRules?: ServiceConfig | undefined;
  /** What answers hold in memory. */
  readonly answers?: HeldBytes;
  readonly log: Log;
}): Promise<Server> {
  const { services, authenticator, media, httpRules, log, bodyLimits = bodyLimitsDefault } = parts;
  const { contact, answers = defaultAnswers() } = parts;
  const report = (bug: unknown, requestId: string | undefined) => {
    log.error({ ...errorFields(bug), requestId }, "call.broken");
  };
  const answerError = createAnswerError(parts.explain, report, contact);
  const contract = services.map(({ service }) => service);
  // What a google.rpc.Status may carry.
  const registry = createRegistry(file_google_rpc_error_details);
  const transcoder = createTranscoder(contract, { registry, ...httpRules });
  logRuleNotices(transcoder.notices, httpRules, log);
  const methods = methodsOf(services);
  const readiness = createReadiness(parts.readiness, { explain: parts.explain, log });
  const leaving = new AbortController();
  const health = createHealthDoor(readiness, leaving.signal);
  const draining = createDraining();
  const shutdown = new AbortController();
  const reading = createMessageReading(parts.longMessages, parts.requestBytes);
  const rest = createRestDoor({
    transcoder,
    methods,
    authenticator,
    answerError,
    shutdownSignal: shutdown.signal,
    bodyLimits,
    reading,
    answers,
  });
  const consoleDoor = parts.console && createConsoleDoor(parts.console, rest, reading.held);
  const consoleFiles =
    parts.console && createConsoleFiles(parts.console.folder, parts.console.mediaOrigins);
  const { publicUrl } = parts;
  const pages = createPageOrigins(parts.allowedOrigins ?? [], () => publicUrl?.());
  const webSocket = createWebSocketDoor({
    transcoder,
    methods,
    authenticator,
    answerError,
    refusal: (headers) => pages.refusal(headers),
    reading,
  });

  // A server without a contract, such as a worker, has nothing to describe.
  const docs =
    publicUrl &&
    services.length > 0 &&
    createDocsDoor(() => describeApi(transcoder.bindings, { registry, url: publicUrl(), contact }));

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
    useOf: parts.useOf ?? (() => undefined),
    readiness,
    leaving: leaving.signal,
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
    reading,
    otherwise,
  });
  const { isTrustedProxy = () => false } = parts;
  const handle: HttpListener = (request, response) => {
    const { requestId } = findCallOrigin(request, isTrustedProxy);
    response.setHeader("x-request-id", requestId);
    // What of the body nobody has read by then.
    response.once("finish", () => {
      void giveUpReading(response);
    });
    if (pages.answer(request, response)) return;
    // Media is refused by its headers, before gigabytes are sent.
    if (!media?.handles(targetOf(request))) askForBody(request, response);
    if (request.httpVersionMajor > 1 || request.headers.host !== undefined) {
      grpc(request, response);
      return;
    }
    // Balancers ask in HTTP/1.0 (HAProxy) or name no host.
    if (health.handles(request)) {
      otherwise(request, response);
      return;
    }
    answerFailure(response, new ServiceError("invalid_argument", "the Host header is missing"));
  };
  const doors: Doors = {
    handle,
    refuse: refuseMalformed,
    upgrade: (request, socket, head) => {
      findCallOrigin(request, isTrustedProxy);
      webSocket.handleUpgrade(request, socket, head);
    },
  };
  const port = await openPort(parts, doors, parts.limits);

  return {
    address: port.address,
    leave() {
      leaving.abort();
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      draining.drain();
      const tell = setTimeout(() => {
        shutdown.abort(new ServiceError("unavailable", "the service is shutting down"));
      }, drainMsMax);
      const cut = setTimeout(() => {
        webSocket.terminate();
        port.close();
      }, drainMsMax + tellMs);
      await port.drain(webSocket.drain());
      clearTimeout(tell);
      clearTimeout(cut);
    },
  };
}
