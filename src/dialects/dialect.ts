import type { Caller } from "../auth/caller.ts";
import type { DescMethod } from "@bufbuild/protobuf";
import type { CallProtocol } from "../metrics/recorders.ts";
import type { ServiceError } from "../std/service-error.ts";
import type { FailureAnswer } from "../server/answer-failure.ts";
import type { HttpRequest, HttpResponse } from "../server/http.ts";

/** A request of a dialect, whose route was found. */
export interface DialectCall {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** The query of the request. */
  readonly query: URLSearchParams;
  /** The parts of the path that the route names, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** Aborts when the client disconnects, its key is revoked or the service shuts down. */
  readonly signal: AbortSignal;
  /** Authenticates the caller as for a method of the contract. Throws ServiceError. */
  readonly authenticate: (method: DescMethod) => Promise<Caller>;
}

/** One path of a dialect. */
export interface DialectRoute {
  readonly method: "GET" | "POST";
  /** Matches the path without the query. Its groups become DialectCall.path. */
  readonly path: RegExp;
  readonly handle: (call: DialectCall) => Promise<void>;
}

/** The protocol of another service, translated to calls of this one. */
export interface Dialect {
  /** The protocol as which its calls are counted. */
  readonly protocol: CallProtocol;
  readonly routes: readonly DialectRoute[];
  /** Returns an error in the form that clients of the dialect read. */
  readonly errorAnswer: (error: ServiceError, requestId: string) => FailureAnswer;
}
