import type { Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { Authenticator } from "../auth/authenticate.ts";
import { callerKey } from "../auth/caller.ts";
import { answerErrors, type AnswerError } from "./answer-errors.ts";
import type { Draining } from "./draining.ts";
import { targetOf, type HttpListener } from "./http.ts";
import type { ImplementedService } from "./methods.ts";

/** Longest message: a transcript at its limit. */
const messageBytesMax = 32 << 20;

/** gRPC, gRPC-Web and Connect on one handler; what is none of them goes to `otherwise`. */
export function createGrpcDoor(parts: {
  readonly services: readonly ImplementedService[];
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  readonly draining: Draining;
  readonly shutdownSignal: AbortSignal;
  readonly otherwise: HttpListener;
}): HttpListener {
  const paths = new Set(
    parts.services.flatMap(({ service }) =>
      service.methods.map((method) => `/${service.typeName}/${method.name}`),
    ),
  );
  const adapter = connectNodeAdapter({
    routes: (router) => {
      for (const { service, implementation } of parts.services) {
        router.service(service, implementation);
      }
    },
    // The last one is the innermost.
    interceptors: [
      answerErrors(parts.answerError),
      authenticate(parts.authenticator),
      parts.draining.interceptor,
    ],
    readMaxBytes: messageBytesMax,
    shutdownSignal: parts.shutdownSignal,
  });
  return (request, response) => {
    const [path = ""] = targetOf(request).split("?", 1);
    (paths.has(path) ? adapter : parts.otherwise)(request, response);
  };
}

function authenticate(authenticator: Authenticator): Interceptor {
  return (next) => async (request) => {
    const caller = await authenticator.authenticate(
      { headers: request.header, url: request.url },
      request.method,
    );
    request.contextValues.set(callerKey, caller);
    return await next(request);
  };
}
