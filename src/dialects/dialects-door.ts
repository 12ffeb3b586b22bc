import type { CallFacts } from "../auth/shown-tokens.ts";
import type { RecordedCall } from "../metrics/recorders.ts";
import { callOriginOf } from "../server/call-origin.ts";
import { clientGone } from "../server/client-gone.ts";
import { answerFailure } from "../server/answer-failure.ts";
import {
  isClosed,
  targetOf,
  type HttpDoor,
  type HttpRequest,
  type HttpResponse,
} from "../server/http.ts";
import { noted, recordedName } from "../server/record-calls.ts";
import type { DialectCalls } from "../server/server-parts.ts";
import { shuttingDown } from "../server/shutting-down.ts";
import { ServiceError } from "../std/service-error.ts";
import { shownKey } from "./credentials.ts";
import type { Dialect, DialectCall, DialectRoute } from "./dialect.ts";

/**
 * Creates the door of all dialects. Each path belongs to one dialect, which also writes the errors
 * of that path.
 */
export function createDialectsDoor(dialects: readonly Dialect[], parts: DialectCalls): HttpDoor {
  const routes = dialects.flatMap((dialect) => dialect.routes.map((route) => ({ dialect, route })));
  const routesOf = (target: string) => {
    const path = pathOf(target);
    return routes.filter(({ route }) => route.path.test(path));
  };
  return {
    handles: (request) => routesOf(targetOf(request)).length > 0,
    // The door checks the caller and the announced size before a recording is sent.
    asksForBody: true,
    refusesByItself: true,
    async handle(request, response) {
      const found = routesOf(targetOf(request));
      const { dialect } = found[0] ?? {};
      if (!dialect) throw new Error("no dialect has this path");
      const recorded = parts.recorder.begin(dialect.protocol);
      try {
        if (parts.refuses()) throw shuttingDown("call");
        const { route } =
          found.find(({ route }) => route.method === methodOf(request)) ?? notAllowed(found);
        await run(route, { request, response, recorded }, parts);
      } catch (error) {
        const { requestId } = callOriginOf(request);
        const answered = noted(recorded, parts.answerError(error, requestId));
        const answerOf = (failure: ServiceError) => dialect.errorAnswer(failure, requestId);
        if (!isClosed(response)) answerFailure(response, answered, answerOf);
      } finally {
        recorded.end();
      }
    },
  };
}

async function run(
  route: DialectRoute,
  {
    request,
    response,
    recorded,
  }: {
    readonly request: HttpRequest;
    readonly response: HttpResponse;
    readonly recorded: RecordedCall;
  },
  { authenticator, shutdownSignal }: DialectCalls,
): Promise<void> {
  const target = targetOf(request);
  const ended = new AbortController();
  const onClose = (): void => ended.abort(clientGone());
  response.once("close", onClose);
  await using parts = new AsyncDisposableStack();
  parts.defer(() => void response.off("close", onClose));
  const call: DialectCall = {
    request,
    response,
    query: new URLSearchParams(target.slice(pathOf(target).length)),
    path: groupsOf(route.path, pathOf(target)),
    signal: AbortSignal.any([ended.signal, shutdownSignal]),
    async authenticate(method) {
      recorded.called(recordedName(method), true);
      const facts: CallFacts = {
        headers: shownKey(request.headers),
        url: target,
        origin: callOriginOf(request),
      };
      const caller = await authenticator.authenticate(facts, method);
      // A recording of hours is recognized in one call, which ends with its credential.
      parts.use(authenticator.watch(caller, method, (reason) => ended.abort(reason)));
      return caller;
    },
  };
  await route.handle(call);
}

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}

/** Answers HEAD as GET; Node leaves out the body. */
function methodOf({ method }: HttpRequest): string {
  return method === "HEAD" ? "GET" : (method ?? "");
}

function groupsOf(pattern: RegExp, path: string): Record<string, string> {
  const groups = Object.entries(pattern.exec(path)?.groups ?? {});
  // A group that takes no part in the match has no value.
  const present = groups.filter(([, value]) => (value as string | undefined) !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, decoded(value)]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ServiceError("invalid_argument", "the path has an escape that is not UTF-8");
  }
}

function notAllowed(found: readonly { readonly route: DialectRoute }[]): never {
  const allow = found.map(({ route }) => route.method).join(", ");
  throw new ServiceError("unimplemented", `this path accepts ${allow}`, {
    reason: "METHOD_NOT_ALLOWED",
    httpStatus: 405,
    metadata: { allow },
  });
}
