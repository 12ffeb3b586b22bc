import type { DescService } from "@bufbuild/protobuf";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { HeldBytes, HeldBytesLimits } from "../std/held-bytes.ts";
import type { CallRecorder, HttpRecorder } from "../metrics/recorders.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { LongMessages } from "../std/long-messages.ts";
import type { IsInNetworks } from "../std/networks.ts";
import type { ServiceError } from "../std/service-error.ts";
import { isTracing, noteCall } from "../tracing/tracing.ts";
import type { ServiceConfig } from "../transcoding/service-config.ts";
import type { AccessLog } from "./access-log.ts";
import { createAnswerError, type AnswerError } from "./answer-errors.ts";
import type { BodyLimits } from "./body-pace.ts";
import { findCallOrigin } from "./call-origin.ts";
import { DialectSockets, type DialectSocketsParts, type SocketDialect } from "./dialect-sockets.ts";
import { createConsoleDoor, type ConsoleParts } from "./console-door.ts";
import { createConsoleFiles, type ConsoleFilesParts } from "./console-files.ts";
import { createContract, type Contract } from "./contract.ts";
import { createDocsDoor } from "./docs/docs-door.ts";
import { createGrpcDoor } from "./grpc.ts";
import { createGrpcHealth } from "./grpc-health.ts";
import { createGrpcReflection } from "./grpc-reflection.ts";
import {
  createHealthDoor,
  createReadiness,
  type ReadinessCheck,
  type ReadinessReport,
} from "./health.ts";
import { defaultAnswers } from "./held-answers.ts";
import type { HttpDoor } from "./http.ts";
import { createMessageReading } from "./message-reading.ts";
import type { ImplementedService } from "./methods.ts";
import { describeApi } from "./openapi.ts";
import { createPageOrigins } from "./page-origins.ts";
import { openPort, type PortAddress, type PortLimits } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";
import { recordedDoor, unrecorded } from "./record-calls.ts";
import { createRequestHandler } from "./request-handler.ts";
import { createRestDoor } from "./rest.ts";
import { ServerEnd } from "./server-end.ts";
import { traceMethods } from "./trace-methods.ts";
import { traceUpgrade } from "./trace-requests.ts";
import { createTusDoor, type TusParts } from "./tus-door.ts";
import { createWebSocketDoor, type WebSocketDoor } from "./websocket.ts";

export interface Server extends AsyncDisposable {
  /** The bound address as http://<host>:<port>, or https:// with a certificate. */
  readonly address: string;
  /** The door of the health checks, for other listeners. */
  readonly health: Pick<HttpDoor, "handles" | "handle">;
  /** Returns whether each part is ready, whether all are, and whether the server is leaving. */
  state(): Promise<ReadinessReport & { readonly isLeaving: boolean }>;
  /**
   * Makes the health checks report "not ready", so that load balancers send new calls to other
   * nodes. Calls are still answered.
   */
  leave(): void;
  /**
   * Refuses new calls and streams, and waits for open ones, for at most `msMax`. Streams that are
   * left near the end of this time are ended one after another. Returns at once when `hurried`
   * aborts. The server still has to be disposed of.
   */
  drain(msMax: number, hurried: AbortSignal): Promise<void>;
  /**
   * Asks clients to close their connections, and answers calls as before until none is left, for at
   * most `msMax`: another process takes the new connections. Streams that are left are ended as by
   * drain().
   */
  retire(msMax: number, hurried: AbortSignal): Promise<void>;
}

/** The address on which the server listens, its certificate, and the connection limits. */
export interface ListenOptions extends PortAddress {
  readonly limits?: Partial<PortLimits>;
}

/** The methods that are served, and the authenticator of their callers. */
export interface ServedApi {
  readonly services: readonly ImplementedService[];
  readonly authenticator: Authenticator;
  /** The HTTP rules that replace those of the contract. */
  readonly httpRules?: ServiceConfig | undefined;
  /**
   * Returns what clients may know about a failure behind the methods, such as an unavailable
   * database. Default: nothing.
   */
  readonly explain?: (error: unknown) => ServiceError | undefined;
}

/** The addresses of the service and of its clients. */
export interface Network {
  /**
   * The public address of the service, without a trailing slash. The address is known once the
   * server listens. If undefined, there is no API reference.
   */
  readonly publicUrl?: () => string;
  /** The proxies whose X-Forwarded-For header is trusted. Default: none. */
  readonly isTrustedProxy?: IsInNetworks;
  /**
   * The origins of other web pages that may call the service; anyOrigin for all. Default: none.
   */
  readonly allowedOrigins?: readonly string[];
  /** The e-mail address or URL for access requests. */
  readonly contact?: string | undefined;
}

export interface HealthOptions {
  readonly checks: readonly ReadinessCheck[];
  /**
   * Returns the use of the readiness checks to which a service belongs; undefined if the service
   * needs every part. Default: undefined for every service.
   */
  readonly useOf?: (service: DescService) => string | undefined;
  /** Returns whether the models found at the start are still loading. Default: false. */
  readonly isStarting?: () => boolean;
}

/** The memory and time limits of requests and responses. */
export interface TrafficLimits {
  readonly bodyLimits?: BodyLimits;
  readonly requestBytes?: HeldBytesLimits;
  /** The memory for responses. */
  readonly answers?: HeldBytes;
  /** Reads messages with long lists. If undefined, no method accepts such messages. */
  readonly longMessages?: LongMessages;
}

/** What a door outside of the contract needs to answer calls as the other doors do. */
export interface DialectCalls {
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  /** Aborts the calls that are left when the service shuts down. */
  readonly shutdownSignal: AbortSignal;
  /** Returns whether new calls are refused, because the service is shutting down. */
  readonly refuses: () => boolean;
  /** Records calls, for the metrics of the node. */
  readonly recorder: CallRecorder;
}

export interface ServerParts {
  readonly api: ServedApi;
  readonly network?: Network;
  readonly health?: HealthOptions;
  readonly traffic?: TrafficLimits;
  /** The door for signed URLs. */
  readonly media?: HttpDoor | undefined;
  /** The door for shared transcripts. */
  readonly shared?: HttpDoor | undefined;
  /** Creates the door of other services' protocols; undefined if there is none. */
  readonly dialects?: ((calls: DialectCalls) => HttpDoor) | undefined;
  /** The protocols of other services over WebSocket. Default: none. */
  readonly socketDialects?: readonly SocketDialect[] | undefined;
  /** The parts of resumable uploads; undefined if there are none. */
  readonly resumable?: TusParts | undefined;
  /** The parts of the console; undefined if there is no console. */
  readonly console?: (ConsoleParts & ConsoleFilesParts) | undefined;
  /** Further doors, such as that of the metrics. Default: none. */
  readonly others?: readonly HttpDoor[];
  /** Records calls and requests, for the metrics of the node. */
  readonly recorder?: (CallRecorder & HttpRecorder) | undefined;
  /** The log of calls; undefined if there is none. */
  readonly access?: AccessLog | undefined;
  readonly log: Log;
}

/**
 * Opens every door of the services on one port: REST, WebSocket, gRPC, gRPC-Web, Connect, health,
 * media, resumable uploads and the console. Disposing of the server drains it: within 15 s, streams
 * send their final results and calls in flight send their responses. Clients are asked to close
 * their connections, and the listener closes last.
 */
export async function openServer(listen: ListenOptions, parts: ServerParts): Promise<Server> {
  const { api, network = {}, traffic = {}, health = { checks: [] } } = parts;
  const { media, shared, access, log } = parts;
  const { explain = () => undefined } = api;
  const { isTrustedProxy } = network;
  const authenticator = notingAccount(api.authenticator);
  const { answers = defaultAnswers() } = traffic;
  const answerError = notingCode(createAnswerError(explain, reportBug(log), network.contact));
  const services = isTracing() ? traceMethods(api.services) : api.services;
  const contract = createContract(services, api.httpRules, log);
  const readiness = createReadiness(health.checks, { explain, log });
  const reading = createMessageReading(traffic);
  const pages = createPageOrigins(
    () => network.allowedOrigins ?? [],
    () => network.publicUrl?.(),
  );
  const end = new ServerEnd(log);
  const { draining } = end;

  const refuses = () => end.refuses;
  const { recorder = unrecorded } = parts;
  const common = { authenticator, answerError, reading, answers, recorder };
  const calls = { ...common, shutdownSignal: end.shutdown.signal, refuses };
  const rest = createRestDoor(contract, calls);
  const sockets = openSockets(contract, parts.socketDialects ?? [], {
    ...calls,
    refusal: (headers) => pages.refusal(headers),
  });
  const grpcHealth = createGrpcHealth({
    services: contract.services,
    useOf: health.useOf ?? (() => undefined),
    readiness,
    leaving: end.leaving.signal,
    draining: end.retiring.signal,
  });
  const open = openServices(contract, grpcHealth);
  const { console } = parts;
  const tus = parts.resumable && createTusDoor(parts.resumable, api);
  const docs = createDocs(contract, network, console?.folder);
  // The health door comes first because the gRPC door would handle every request with a gRPC
  // content type, including health checks.
  const healthDoor = createHealthDoor(readiness, {
    leaving: end.leaving.signal,
    isStarting: health.isStarting ?? (() => false),
  });
  const handle = createRequestHandler(
    {
      doors: [
        ...recordedDoor(healthDoor, "health", recorder),
        ...(parts.others ?? []),
        createGrpcDoor({ services, open, draining, ...calls }),
        ...recordedDoor(docs, "docs", recorder),
        ...recordedDoor(media, "media", recorder),
        ...recordedDoor(shared, "shared", recorder),
        ...recordedDoor(tus, "uploads", recorder),
        ...(parts.dialects ? [parts.dialects(calls)] : []),
        // Its calls are those of REST, and are recorded there.
        ...consoleDoor(console, { rest, tus, contact: network.contact, held: reading.held }),
        ...recordedDoor(console && createConsoleFiles(console), "console", recorder),
      ],
      rest,
    },
    { answerError, pages, isTrustedProxy, refuses, access, log },
  );
  const port = await openPort(
    listen,
    { handle, ...refusals(recorder), upgrade: upgradeHandler(sockets, network, access) },
    listen.limits,
  );

  const opened = { port, sockets };
  return {
    address: port.address,
    health: healthDoor,
    state: async () => ({ ...(await readiness.report()), isLeaving: end.leaving.signal.aborted }),
    leave: () => end.leaving.abort(),
    drain: (msMax, hurried) => end.drain(opened, { msMax, hurried }),
    retire: (msMax, hurried) => end.retire(opened, { msMax, hurried }),
    [Symbol.asyncDispose]: () => end.close(opened),
  };
}

/** Returns what the port does with input and connections that are refused before any call. */
function refusals(recorder: HttpRecorder) {
  return {
    refuse: refuseMalformed,
    turnedAway: (reason: string) => recorder.turnedAway(reason),
  };
}

/** Opens the doors of WebSockets: a path belongs to a dialect, or else to the contract. */
function openSockets(
  contract: Contract,
  dialects: readonly SocketDialect[],
  parts: Parameters<typeof createWebSocketDoor>[1] & DialectSocketsParts,
): WebSocketDoor {
  const own = createWebSocketDoor(contract, parts);
  const others = new DialectSockets(dialects, parts);
  return {
    handleUpgrade(request, socket, head) {
      const door = others.handles(request) ? others : own;
      door.handleUpgrade(request, socket, head);
    },
    async refuse() {
      await Promise.all([own.refuse(), others.refuse()]);
    },
    ends: () => [...own.ends(), ...others.ends()],
    async drain() {
      await Promise.all([own.drain(), others.drain()]);
    },
    terminate() {
      own.terminate();
      others.terminate();
    },
  };
}

/** Handles requests for WebSockets, within their spans. */
function upgradeHandler(
  sockets: WebSocketDoor,
  { isTrustedProxy }: Network,
  access: AccessLog | undefined,
): WebSocketDoor["handleUpgrade"] {
  return (request, socket, head) => {
    const { requestId } = findCallOrigin(request, isTrustedProxy);
    const open = () => sockets.handleUpgrade(request, socket, head);
    traceUpgrade(request, socket, { requestId, open, access });
  };
}

/** Logs an error that no door expected, with the id of its request. */
export function reportBug(log: Log): Parameters<typeof createAnswerError>[1] {
  return (bug, requestId) => {
    log.error({ ...errorFields(bug), requestId }, "call.broken");
  };
}

/** Notes the code of each failure for the access log. */
function notingCode(answerError: AnswerError): AnswerError {
  return (...failure) => {
    const answer = answerError(...failure);
    noteCall({ code: answer.code });
    return answer;
  };
}

/** Notes the account of each authenticated call for the access log. */
function notingAccount(authenticator: Authenticator): Authenticator {
  return {
    ...authenticator,
    async authenticate(request, method) {
      const caller = await authenticator.authenticate(request, method);
      noteCall({ accountId: caller.accountId });
      return caller;
    },
  };
}

/** Creates the gRPC services that need no token. A server without a contract has no reflection. */
function openServices(
  { services }: Pick<Contract, "services">,
  grpcHealth: ImplementedService,
): readonly ImplementedService[] {
  if (services.length === 0) return [grpcHealth];
  const described = [...services, grpcHealth.service];
  return [grpcHealth, ...createGrpcReflection(described, [file_google_rpc_error_details])];
}

/** Returns the door of the console's pages, unless this process has no console. */
function consoleDoor(
  console: ConsoleParts | undefined,
  {
    contact,
    held,
    ...doors
  }: Parameters<typeof createConsoleDoor>[1] & {
    readonly contact: string | undefined;
    readonly held: Parameters<typeof createConsoleDoor>[2];
  },
): readonly HttpDoor[] {
  return console ? [createConsoleDoor({ ...console, contact }, doors, held)] : [];
}

/**
 * Creates the API reference. Returns undefined if there is no API, or no address to show in the
 * reference.
 */
function createDocs(
  { services, transcoder, registry }: Contract,
  { publicUrl, contact }: Network,
  consoleFolder: string | undefined,
): HttpDoor | undefined {
  if (publicUrl === undefined || services.length === 0) return undefined;
  return createDocsDoor(
    () => describeApi(transcoder.bindings, { registry, url: publicUrl(), contact }),
    consoleFolder,
  );
}
