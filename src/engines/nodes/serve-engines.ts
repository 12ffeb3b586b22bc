import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2Session,
} from "node:http2";
import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  Engines,
  type ServeRequest,
  type ServeResponse,
  ServeResponseSchema,
} from "../../gen/hlust/engine/v1/engine_pb.ts";
import type { Certificate } from "../../std/certificate.ts";
import type { Log } from "../../std/log.ts";
import { isSameSecret } from "../../std/same-secret.ts";
import { packageVersion } from "../../std/version.ts";
import { ClientStream } from "./client-stream.ts";
import {
  authorizationOf,
  helloMsMax,
  messageBytesMax,
  nodeProtocol,
  silentMsMax,
  windowBytes,
} from "./node-protocol.ts";
import type { SharedProcesses } from "./shared-processes.ts";

/** The connections and the clients of an engine node. */
const connectionsMax = 1_000;
export const clientsMax = 500;
/** The checks of a client within silentMsMax. */
const silenceChecks = 10;
/** How often a refused credential is logged. */
const refusalLogMs = 10_000;

/** Where engines are served: a port, or the path of a Unix socket. */
export type EngineAddress =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string };

export interface EngineListenerOptions {
  readonly at: EngineAddress;
  readonly credential: string;
  /** The certificate of the port; undefined for cleartext. */
  readonly certificate?:
    | {
        readonly current: Certificate;
        onReplaced(listener: (certificate: Certificate) => void): void;
      }
    | undefined;
  readonly cores: number;
  /** Returns whether models are still being loaded for the first time. */
  readonly isLoading: () => boolean;
  readonly log: Log;
  /** The silence after which a client is given up. Default: silentMsMax. */
  readonly silentMsMax?: number;
  /** The time that a connection has to say hello. Default: helloMsMax. */
  readonly helloMsMax?: number;
}

export interface EngineListener extends AsyncDisposable {
  /** The bound address, as <host>:<port>, or the path of the socket. */
  readonly address: string;
}

const sessionKey = createContextKey<Http2Session | undefined>(undefined);

/**
 * Listens for the nodes that use the engines of this node. Throws an Error that names the setting
 * if the address cannot be used.
 */
export async function openEngineListener(
  shared: SharedProcesses,
  options: EngineListenerOptions,
): Promise<EngineListener> {
  const { at, certificate, log } = options;
  const ending = new AbortController();
  const service = new EngineService(shared, options, ending.signal);
  const handle = connectNodeAdapter({
    grpc: true,
    grpcWeb: false,
    connect: false,
    acceptCompression: [],
    readMaxBytes: messageBytesMax,
    shutdownSignal: ending.signal,
    contextValues: (request) => {
      const session = "stream" in request ? request.stream.session : undefined;
      return createContextValues().set(sessionKey, session);
    },
    routes: (router) =>
      router.service(Engines, { serve: (requests, context) => service.serve(requests, context) }),
  });
  const settings = { initialWindowSize: windowBytes, maxConcurrentStreams: 4 };
  const limits = { settings, maxSessionMemory: 256, unknownProtocolTimeout: 1_000 };
  const secure =
    certificate && createSecureServer({ ...limits, ...pemOf(certificate.current) }, handle);
  const server: Http2Server | Http2SecureServer = secure ?? createServer(limits, handle);
  certificate?.onReplaced((replaced) => secure?.setSecureContext(pemOf(replaced)));
  server.maxConnections = connectionsMax;
  const sessions = watchSessions(server, service, options);
  if ("socketPath" in at) server.listen(at.socketPath);
  else server.listen(at.port, at.host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(problemOf(error, shownAddress(at)), { cause: error });
  }
  const bound = server.address();
  const isPort = "port" in at && typeof bound === "object" && bound !== null;
  const address = shownAddress(isPort ? { ...at, port: bound.port } : at);
  log.info({ address, isEncrypted: certificate !== undefined }, "engine.listening");
  return {
    address,
    async [Symbol.asyncDispose]() {
      ending.abort();
      const closed = once(server, "close");
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

function pemOf({ cert, key }: Certificate) {
  return { cert, key };
}

/** Ends connections that do not say hello, such as those of other programs. */
function watchSessions(
  server: Http2Server | Http2SecureServer,
  service: EngineService,
  { log, helloMsMax: msMax = helloMsMax }: EngineListenerOptions,
): ReadonlySet<Http2Session> {
  const sessions = new Set<Http2Session>();
  server.on("session", (session: Http2Session) => {
    sessions.add(session);
    // The settings are those of each stream. A client may have ended the connection already.
    if (!session.destroyed) session.setLocalWindowSize(windowBytes);
    const remote = session.socket?.remoteAddress;
    const timer = setTimeout(() => {
      if (service.isKnown(session)) return;
      log.warn({ remote, problem: "it did not say hello" }, "engine.client_refused");
      session.destroy();
    }, msMax);
    session.once("close", () => {
      clearTimeout(timer);
      sessions.delete(session);
    });
    session.on("error", (error) => {
      log.debug({ remote, problem: error.message }, "engine.client_broken");
    });
  });
  server.on("sessionError", () => {});
  return sessions;
}

/** The service of the engine port. */
class EngineService {
  readonly #shared: SharedProcesses;
  readonly #options: EngineListenerOptions;
  readonly #authorization: string;
  readonly #ending: AbortSignal;
  readonly #runId = randomUUID();
  readonly #known = new WeakSet<Http2Session>();
  #refusedAt = -Infinity;

  /** `ending` aborts when the listener is being closed. */
  constructor(shared: SharedProcesses, options: EngineListenerOptions, ending: AbortSignal) {
    this.#shared = shared;
    this.#options = options;
    this.#ending = ending;
    this.#authorization = authorizationOf(options.credential);
  }

  /** Returns whether a client has said hello on this connection. */
  isKnown(session: Http2Session): boolean {
    return this.#known.has(session);
  }

  async *serve(
    requests: AsyncIterable<ServeRequest>,
    context: HandlerContext,
  ): AsyncGenerator<ServeResponse, void, undefined> {
    const session = context.values.get(sessionKey);
    const remote = session?.socket?.remoteAddress;
    this.#authenticate(context, remote);
    if (this.#shared.isLeaving)
      throw new ConnectError("this node is being stopped", Code.Unavailable);
    const reading = requests[Symbol.asyncIterator]();
    const first = await reading.next();
    const version = this.#checkHello(first.done ? undefined : first.value);
    // Nothing is awaited between this check and join(), or more clients would pass it at once.
    if (this.#shared.clients >= clientsMax) {
      throw new ConnectError(`at most ${clientsMax} clients are served`, Code.ResourceExhausted);
    }
    if (session) this.#known.add(session);
    const { cores, isLoading, log } = this.#options;
    using client = new ClientStream(this.#shared, isLoading);
    const { outgoing } = client;
    context.signal.addEventListener("abort", () => outgoing.end());
    outgoing.push(
      create(ServeResponseSchema, {
        message: {
          case: "hello",
          value: { protocol: nodeProtocol, version: packageVersion(), runId: this.#runId, cores },
        },
      }),
    );
    this.#shared.join(client);
    log.info({ remote, version }, "engine.client_joined");
    using watch = new Silence(this.#options.silentMsMax ?? silentMsMax, () =>
      outgoing.end(new ConnectError("the client is silent", Code.DeadlineExceeded)),
    );
    void this.#read(reading, client, watch);
    try {
      yield* outgoing;
      log.info({ remote }, "engine.client_left");
    } catch (error) {
      // Clients leave a node that is being stopped, wherever their calls are.
      if (this.#shared.isLeaving || this.#ending.aborted)
        log.info({ remote }, "engine.client_left");
      else log.warn({ remote, problem: messageOf(error) }, "engine.client_lost");
      throw error;
    } finally {
      this.#shared.part(client);
    }
  }

  async #read(
    requests: AsyncIterator<ServeRequest>,
    client: ClientStream,
    watch: Silence,
  ): Promise<void> {
    const { outgoing } = client;
    try {
      for (;;) {
        const { done, value } = await requests.next();
        if (done) break;
        watch.sign();
        client.take(value);
      }
      outgoing.end();
    } catch (error) {
      const isOfClient = error instanceof ConnectError;
      outgoing.end(isOfClient ? error : new ConnectError(messageOf(error), Code.InvalidArgument));
    }
  }

  #authenticate({ requestHeader }: HandlerContext, remote: string | undefined): void {
    if (isSameSecret(requestHeader.get("authorization") ?? "", this.#authorization)) return;
    const now = performance.now();
    if (now - this.#refusedAt >= refusalLogMs) {
      this.#refusedAt = now;
      const problem = "its credential is not that of this node (HLUST_ENGINE_CREDENTIAL)";
      this.#options.log.warn({ remote, problem }, "engine.client_refused");
    }
    throw new ConnectError("the credential is not that of this node", Code.Unauthenticated);
  }

  #checkHello(request: ServeRequest | undefined): string {
    const message = request?.message;
    if (message?.case !== "hello") {
      throw new ConnectError("a client must say hello first", Code.InvalidArgument);
    }
    const { protocol, version } = message.value;
    if (protocol === nodeProtocol) return version.slice(0, 40);
    throw new ConnectError(
      `this node has version ${packageVersion()} with protocol ${nodeProtocol}, the client has version ${version.slice(0, 40)} with protocol ${protocol}: use versions with the same protocol`,
      Code.FailedPrecondition,
    );
  }
}

/** Calls back once if there is no sign for some time. */
class Silence implements Disposable {
  readonly #timer: NodeJS.Timeout;
  /** Checks are counted instead of time, since none happen while this process is suspended. */
  #silentChecks = 0;

  constructor(msMax: number, onSilent: () => void) {
    this.#timer = setInterval(() => {
      this.#silentChecks += 1;
      if (this.#silentChecks === silenceChecks) onSilent();
    }, msMax / silenceChecks);
  }

  sign(): void {
    this.#silentChecks = 0;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Returns what is wrong with the address, as a sentence for the operator. */
function problemOf(error: unknown, address: string): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const what = `HLUST_ENGINE_LISTEN is ${address}, but`;
  if (code === "EADDRINUSE") {
    return `${what} another program listens there: choose another port, or stop that program`;
  }
  if (code === "EADDRNOTAVAIL") return `${what} this machine does not have that address`;
  if (code === "EACCES") return `${what} this user may not use that port: choose one above 1023`;
  return `${what} it cannot be used: ${messageOf(error)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function shownAddress(at: EngineAddress): string {
  if ("socketPath" in at) return at.socketPath;
  return `${at.host.includes(":") ? `[${at.host}]` : at.host}:${at.port}`;
}
