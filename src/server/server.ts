import { createRegistry } from "@bufbuild/protobuf";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { ServiceError } from "../std/service-error.ts";
import { createTranscoder } from "../transcoding/transcoder.ts";
import { createAnswerError } from "./answer-errors.ts";
import { createDraining } from "./draining.ts";
import { createGrpcDoor } from "./grpc.ts";
import { createHealthDoor, type ReadinessCheck } from "./health.ts";
import {
  answerFailure,
  targetOf,
  type HttpHandler,
  type HttpListener,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { methodsOf, type ImplementedService } from "./methods.ts";
import { openPort } from "./port.ts";
import { refuseMalformed } from "./refuse.ts";
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
  readonly readiness: readonly ReadinessCheck[];
  readonly explain: (error: unknown) => ServiceError | undefined;
  readonly log: Log;
}): Promise<Server> {
  const { services, authenticator, media, log } = parts;
  const answerError = createAnswerError(parts.explain, (bug) => {
    log.error(errorFields(bug), "call.broken");
  });
  const transcoder = createTranscoder(
    services.map(({ service }) => service),
    // What a google.rpc.Status may carry.
    { registry: createRegistry(file_google_rpc_error_details) },
  );
  const methods = methodsOf(services);
  const health = createHealthDoor(parts.readiness);
  const rest = createRestDoor({ transcoder, methods, authenticator });
  const webSocket = createWebSocketDoor({ transcoder, methods, authenticator, answerError });
  const draining = createDraining();
  const shutdown = new AbortController();

  const serve: HttpHandler = (request, response) => {
    if (health.handles(request)) return health.handle(request, response);
    if (media?.handles(targetOf(request))) return media.handle(request, response);
    return rest(request, response);
  };
  const otherwise: HttpListener = (request, response) => {
    serve(request, response).catch((error: unknown) => {
      answerFailure(response, answerError(error));
    });
  };
  const grpc = createGrpcDoor({
    services,
    authenticator,
    answerError,
    draining,
    shutdownSignal: shutdown.signal,
    otherwise,
  });
  const handle: HttpListener = (request, response) => {
    if (request.httpVersionMajor > 1 || request.headers.host !== undefined) {
      grpc(request, response);
      return;
    }
    answerFailure(response, new ServiceError("invalid_argument", "the Host header is missing"));
  };
  const port = await openPort(parts, {
    handle,
    refuse: refuseMalformed,
    upgrade: webSocket.handleUpgrade.bind(webSocket),
  });

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
