import type { DescService } from "@bufbuild/protobuf";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { HeldBytes, HeldBytesLimits } from "../std/held-bytes.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { LongMessages } from "../std/long-messages.ts";
import type { IsInNetworks } from "../std/networks.ts";
import { ServiceError } from "../std/service-error.ts";
import type { ServiceConfig } from "../transcoding/service-config.ts";
import { createAnswerError } from "./answer-errors.ts";
import type { BodyLimits } from "./body-pace.ts";
import { findCallOrigin } from "./call-origin.ts";
import { createConsoleDoor, type ConsoleParts } from "./console-door.ts";
import { createConsoleFiles, type ConsoleFilesParts } from "./console-files.ts";
import { createContract, type Contract } from "./contract.ts";
import { createDocsDoor } from "./docs/docs-door.ts";
import { createDraining } from "./draining.ts";
import { createGrpcDoor } from "./grpc.ts";
import { createGrpcHealth } from "./grpc-health.ts";
import { createGrpcReflection } from "./grpc-reflection.ts";
import { createHealthDoor, createReadiness, type ReadinessCheck } from "./health.ts";
import { defaultAnswers } from "./held-answers.ts";
import type { HttpDoor } from "./http.ts";
import { createMessageReading } from "./message-reading.ts";
import type { ImplementedService } from "./methods.ts";
import { describeApi } from "./openapi.ts";
import { createPageOrigins } from "./page-origins.ts";
import { openPort, type PortLimits } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";
import { createRequestHandler } from "./request-handler.ts";
import { createRestDoor } from "./rest.ts";
import { createWebSocketDoor } from "./websocket.ts";

/**
 * How long calls in flight may take when the service shuts down. After that they end with an error,
 * and `abortMs` later their connections are closed.
 */
const drainMsMax = 15_000;
const abortMs = 500;

export interface Server extends AsyncDisposable {
  /** http://<host>:<port>, as bound. */
  readonly address: string;
  /**
   * From now on health reports "not ready", so that load balancers send new calls to other nodes.
   * Calls are answered as before.
   */
  leave(): void;
}

/** The address on which the server listens, and the limits of connections. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly limits?: Partial<PortLimits>;
}

/** The methods that are served, and who may call them. */
export interface ServedApi {
  readonly services: readonly ImplementedService[];
  readonly authenticator: Authenticator;
  /** HTTP rules that replace the contract's. */
  readonly httpRules?: ServiceConfig | undefined;
  /**
   * What clients may know of a failure behind the methods, such as an unavailable database.
   * Default: nothing.
   */
  readonly explain?: (error: unknown) => ServiceError | undefined;
}

/** The addresses of the service and of its clients. */
export interface Network {
  /**
   * The address of the service for clients, without a slash at the end; known once the server
   * listens. undefined: there is no API reference.
   */
  readonly publicUrl?: () => string;
  /** Proxies whose X-Forwarded-For is trusted. Default: none. */
  readonly isTrustedProxy?: IsInNetworks;
  /** Origins of other web pages that may call; anyOrigin for all. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** E-mail address or URL where people ask for access. */
  readonly contact?: string | undefined;
}

export interface HealthOptions {
  readonly checks: readonly ReadinessCheck[];
  /**
   * The use of the readiness checks that a service belongs to; undefined: it needs every part.
   * Default: undefined for every service.
   */
  readonly useOf?: (service: DescService) => string | undefined;
}

/** The limits of requests and answers: memory, and time to arrive. */
export interface TrafficLimits {
  readonly bodyLimits?: BodyLimits;
  readonly requestBytes?: HeldBytesLimits;
  /** The memory of answers. */
  readonly answers?: HeldBytes;
  /** Reads messages with long lists; undefined: no method accepts them. */
  readonly longMessages?: LongMessages;
}

export interface ServerParts {
  readonly api: ServedApi;
  readonly network?: Network;
  readonly health?: HealthOptions;
  readonly traffic?: TrafficLimits;
  /** The door of signed URLs. */
  readonly media?: HttpDoor | undefined;
  /** undefined: there is no console. */
  readonly console?: (ConsoleParts & ConsoleFilesParts) | undefined;
  readonly log: Log;
}

/**
 * Opens every door of the services on one port: REST, WebSocket, gRPC, gRPC-Web, Connect, health,
 * media and the console. Disposing it drains: streams send their final results and calls in flight
 * their answers, within 15 s; clients are asked to close their connections, and the listener closes
 * last.
 */
export async function openServer(listen: ListenOptions, parts: ServerParts): Promise<Server> {
  const { api, network = {}, traffic = {}, health = { checks: [] }, media, log } = parts;
  const { authenticator, explain = () => undefined } = api;
  const { answers = defaultAnswers() } = traffic;
  const answerError = createAnswerError(explain, reportBug(log), network.contact);
  const contract = createContract(api.services, api.httpRules, log);
  const readiness = createReadiness(health.checks, { explain, log });
  const reading = createMessageReading(traffic);
  const pages = createPageOrigins(network.allowedOrigins ?? [], () => network.publicUrl?.());
  const leaving = new AbortController();
  const draining = createDraining();
  const shutdown = new AbortController();

  const calls = { authenticator, answerError, reading, answers, shutdownSignal: shutdown.signal };
  const rest = createRestDoor(contract, calls);
  const webSocket = createWebSocketDoor(contract, {
    ...calls,
    refusal: (headers) => pages.refusal(headers),
  });
  const grpcHealth = createGrpcHealth({
    services: contract.services,
    useOf: health.useOf ?? (() => undefined),
    readiness,
    leaving: leaving.signal,
    draining: draining.signal,
  });
  const open = openServices(contract, grpcHealth);
  const { console } = parts;
  const docs = createDocs(contract, network);
  const handle = createRequestHandler(
    {
      doors: [
        // First in the list: the gRPC door would handle every request with a gRPC content type,
        // including health checks.
        createHealthDoor(readiness, leaving.signal),
        createGrpcDoor({ services: api.services, open, draining, ...calls }),
        ...(docs ? [docs] : []),
        ...(media ? [media] : []),
        ...(console ? [createConsoleDoor(console, rest, reading.held)] : []),
        ...(console ? [createConsoleFiles(console)] : []),
      ],
      rest,
    },
    { answerError, pages, isTrustedProxy: network.isTrustedProxy, log },
  );
  const port = await openPort(
    listen,
    {
      handle,
      refuse: refuseMalformed,
      upgrade: (request, socket, head) => {
        findCallOrigin(request, network.isTrustedProxy);
        webSocket.handleUpgrade(request, socket, head);
      },
    },
    listen.limits,
  );

  return {
    address: port.address,
    leave() {
      leaving.abort();
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      draining.drain();
      const endCalls = setTimeout(() => {
        shutdown.abort(new ServiceError("unavailable", "the service is shutting down"));
      }, drainMsMax);
      const cut = setTimeout(() => {
        webSocket.terminate();
        port.close();
      }, drainMsMax + abortMs);
      await port.drain(webSocket.drain());
      clearTimeout(endCalls);
      clearTimeout(cut);
    },
  };
}

/** Logs an error that no door expected, with the id of its request. */
function reportBug(log: Log): Parameters<typeof createAnswerError>[1] {
  return (bug, requestId) => {
    log.error({ ...errorFields(bug), requestId }, "call.broken");
  };
}

/** The gRPC services that need no token. A server without a contract has no reflection. */
function openServices(
  { services }: Pick<Contract, "services">,
  grpcHealth: ImplementedService,
): readonly ImplementedService[] {
  if (services.length === 0) return [grpcHealth];
  const described = [...services, grpcHealth.service];
  return [grpcHealth, ...createGrpcReflection(described, [file_google_rpc_error_details])];
}

/** The API reference; undefined if there is no API, or no address to show in it. */
function createDocs(
  { services, transcoder, registry }: Contract,
  { publicUrl, contact }: Network,
): HttpDoor | undefined {
  if (publicUrl === undefined || services.length === 0) return undefined;
  return createDocsDoor(() =>
    describeApi(transcoder.bindings, { registry, url: publicUrl(), contact }),
  );
}
