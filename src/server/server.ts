import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { HttpRecorder } from "../metrics/recorders.ts";
import { errorFields, type Log } from "../std/log.ts";
import { isTracing, noteCall } from "../tracing/tracing.ts";
import type { AccessLog } from "./access-log.ts";
import { createAnswerError, type AnswerError } from "./answer-errors.ts";
import { findCallOrigin } from "./call-origin.ts";
import { createConsoleDoor, type ConsoleParts } from "./console-door.ts";
import { createConsoleFiles } from "./console-files.ts";
import { createContract, type Contract } from "./contract.ts";
import { createDocsDoor } from "./docs/docs-door.ts";
import { createGrpcDoor } from "./grpc.ts";
import { createGrpcHealth } from "./grpc-health.ts";
import { createGrpcReflection } from "./grpc-reflection.ts";
import { createHealthDoor, createReadiness, type ReadinessReport } from "./health.ts";
import { defaultAnswers } from "./held-answers.ts";
import type { HttpDoor } from "./http.ts";
import { createMessageReading } from "./message-reading.ts";
import type { ImplementedService } from "./methods.ts";
import { describeApi } from "./openapi.ts";
import { createPageOrigins } from "./page-origins.ts";
import { openSockets } from "./open-sockets.ts";
import { openPort } from "./port.ts";
import type { ListenOptions, Network, ServerParts } from "./server-parts.ts";
import { refuseMalformed } from "./refuse.ts";
import { recordedDoor, unrecorded } from "./record-calls.ts";
import { createRequestHandler } from "./request-handler.ts";
import { createRestDoor } from "./rest.ts";
import { ServerEnd } from "./server-end.ts";
import { traceMethods } from "./trace-methods.ts";
import { traceUpgrade } from "./trace-requests.ts";
import { createTusDoor } from "./tus-door.ts";
import type { WebSocketDoor } from "./websocket.ts";

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
