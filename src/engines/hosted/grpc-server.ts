import {
  Code,
  ConnectError,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/grpc/health/v1/health_pb.ts";
import { answerBytesMax, connectMsMax, type ServerSettings } from "./hosted-server.ts";
import { type FailureKind, ServerFailure, serverWords } from "./server-failure.ts";

/** The connection to a server of gRPC. */
export interface GrpcServer {
  readonly transport: Transport;
  /** Returns what an error of a call means. */
  failureOf(error: unknown): ServerFailure;
  /** Checks the server by grpc.health.v1, if it has that. */
  probe(service: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** The interval of pings while a call is open: a connection that is cut off is noticed. */
const pingMs = 5000;

export function openGrpcServer({ address, key, authorities: ca }: ServerSettings): GrpcServer {
  const { origin } = address;
  const sessionManager = new Http2SessionManager(
    origin,
    { pingIntervalMs: pingMs, pingTimeoutMs: connectMsMax },
    // Riva's words for a missing model end with a space, which would cost all of them.
    { strictFieldWhitespaceValidation: false, ...(ca !== undefined && { ca }) },
  );
  const withKey: Interceptor = (next) => async (call) => {
    if (key !== undefined) call.header.set("authorization", `Bearer ${key}`);
    return await next(call);
  };
  const transport = createGrpcTransport({
    baseUrl: origin,
    sessionManager,
    interceptors: [withKey],
    readMaxBytes: answerBytesMax,
  });
  const failureOf = (error: unknown): ServerFailure => {
    if (error instanceof ServerFailure) return error;
    const { code, rawMessage, cause } = ConnectError.from(error);
    const words = serverWords(rawMessage, key);
    const kind = kindOf(code, rawMessage);
    const message = `${origin} failed with ${Code[code]}: ${words}`;
    return new ServerFailure(kind, message, { status: Code[code], cause });
  };
  return {
    transport,
    failureOf,
    async probe(service, signal) {
      try {
        const { status } = await createClient(Health, transport).check({ service }, { signal });
        if (status !== Status.NOT_SERVING) return;
      } catch (error) {
        const { code } = ConnectError.from(error);
        // It has no health checks, or does not check this service.
        if (code === Code.Unimplemented || code === Code.NotFound) return;
        throw failureOf(error);
      }
      throw new ServerFailure("unreachable", `${origin} reports that it does not serve`);
    },
    close: () => sessionManager.abort(),
  };
}

function kindOf(code: Code, message: string): FailureKind {
  switch (code) {
    case Code.Unauthenticated:
    case Code.PermissionDenied:
    case Code.Unimplemented:
    case Code.NotFound:
      return "denied";
    case Code.ResourceExhausted:
      // The library refuses longer answers with the same code.
      return message.includes("is larger than configured") ? "refused" : "busy";
    case Code.InvalidArgument:
      // Riva has no other code for a model or a language that it does not have.
      return /unavailable model/i.test(message) ? "denied" : "refused";
    case Code.OutOfRange:
    case Code.FailedPrecondition:
    case Code.AlreadyExists:
      return "refused";
    case Code.DataLoss:
      return "broken";
    case Code.Unknown:
    case Code.Internal:
      return "error";
    case Code.Canceled:
    case Code.DeadlineExceeded:
    case Code.Aborted:
    case Code.Unavailable:
      return "unreachable";
    default:
      return code satisfies never;
  }
}
