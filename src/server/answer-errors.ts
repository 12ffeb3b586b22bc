import { create, toBinary, toJson, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../gen/google/rpc/error_details_pb.ts";
import { durationFromMs } from "../std/duration.ts";
import { errorCodes, rpcCodes, type ErrorCode } from "../std/error-codes.ts";
import { errorStatuses } from "../std/error-statuses.ts";
import { ServiceError } from "../std/service-error.ts";
import { originKey } from "./call-origin.ts";

/** Returns the google.rpc.Code of a failure, for example 3. */
export function rpcCode(error: ServiceError): number {
  return rpcCodes[error.code];
}

type Detail = { [Schema in DescMessage as string]: { desc: Schema; value: MessageShape<Schema> } };
type AnyDetail = Detail[string];

/**
 * Returns the details: always ErrorInfo, BadRequest with every violation, and RetryInfo if a retry
 * may succeed.
 */
function detailsOf(error: ServiceError): AnyDetail[] {
  const details: AnyDetail[] = [
    {
      desc: ErrorInfoSchema,
      value: create(ErrorInfoSchema, {
        reason: error.reason,
        domain: "hlust",
        metadata: error.metadata,
      }),
    },
  ];
  if (error.violations.length > 0) {
    details.push({
      desc: BadRequestSchema,
      value: create(BadRequestSchema, { fieldViolations: [...error.violations] }),
    });
  }
  const retryAfterMs = retryAfterMsOf(error);
  if (retryAfterMs !== undefined) {
    details.push({
      desc: RetryInfoSchema,
      value: create(RetryInfoSchema, { retryDelay: durationFromMs(retryAfterMs) }),
    });
  }
  return details;
}

/** Returns whether the same call may succeed later. If so, its error contains the delay. */
export function canRepeat(error: ServiceError): boolean {
  return retryAfterMsOf(error) !== undefined;
}

function retryAfterMsOf(error: ServiceError): number | undefined {
  const hasRetry = error.code === "unavailable" || error.code === "resource_exhausted";
  return error.retryAfterMs ?? (hasRetry ? 1000 : undefined);
}

/** A google.rpc.Status in JSON: the "error" of a stream. */
export interface StatusJson {
  readonly code: number;
  readonly message: string;
  readonly details: readonly unknown[];
}

export function statusJson(error: ServiceError): StatusJson {
  const details = detailsOf(error).map(({ desc, value }) => ({
    "@type": `type.googleapis.com/${desc.typeName}`,
    ...asObject(toJson(desc, value)),
  }));
  return { code: rpcCode(error), message: error.message, details };
}

function asObject(json: unknown): object {
  return typeof json === "object" && json !== null ? json : {};
}

/** Returns the body for a failed call, for clients of both families of gateways (api: Errors). */
export function errorBody(error: ServiceError): {
  status: number;
  headers: Record<string, string>;
  body: string;
} {
  const status = error.httpStatus ?? errorStatuses[error.code].http;
  const { code, message, details } = statusJson(error);
  const inner = { code: status, status: error.code.toUpperCase(), message, details };
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (status === 401) headers["www-authenticate"] = challenge(error);
  if (error.metadata["allow"] !== undefined) headers["allow"] = error.metadata["allow"];
  const retryAfterMs = retryAfterMsOf(error);
  if (retryAfterMs !== undefined) headers["retry-after"] = `${Math.ceil(retryAfterMs / 1000)}`;
  return { status, headers, body: JSON.stringify({ code, message, details, error: inner }) };
}

/** Returns the challenge. A request without a token gets no error code (RFC 6750, section 3). */
function challenge(error: ServiceError): string {
  return error.reason === "TOKEN_MISSING" ? "Bearer" : 'Bearer error="invalid_token"';
}

/** Returns the same failure for gRPC, gRPC-Web and Connect. */
export function connectError(error: ServiceError): ConnectError {
  const details = detailsOf(error).map(({ desc, value }) => ({
    type: desc.typeName,
    value: toBinary(desc, value),
  }));
  const answer = new ConnectError(error.message, rpcCodes[error.code]);
  answer.details.push(...details);
  return answer;
}

/**
 * Turns any thrown value into the error that clients may see. A bug is reported together with its
 * request.
 */
export type AnswerError = (error: unknown, requestId?: string) => ServiceError;

/**
 * Creates the function that turns thrown values into errors for clients. `explain` returns the
 * error for a known failure behind the methods, such as an unavailable database. All other failures
 * are bugs: they are reported with their details, and the client receives "internal". Refused
 * callers receive the operator's `contact` in ErrorInfo.metadata.
 */
export function createAnswerError(
  explain: (error: unknown) => ServiceError | undefined,
  report: (bug: unknown, requestId: string | undefined) => void,
  contact?: string,
): AnswerError {
  const answer: AnswerError = (error, requestId) => {
    if (error instanceof ServiceError) return error;
    if (error instanceof ConnectError) return fromConnect(error);
    const explained = explain(error);
    if (explained) return explained;
    report(error, requestId);
    return new ServiceError("internal", "internal error");
  };
  if (contact === undefined) return answer;
  return (error, requestId) => withContact(answer(error, requestId), contact);
}

function withContact(error: ServiceError, contact: string): ServiceError {
  const { code, message, reason, violations, metadata, retryAfterMs, httpStatus } = error;
  if (code !== "unauthenticated" && code !== "permission_denied") return error;
  return new ServiceError(code, message, {
    reason,
    violations,
    metadata: { ...metadata, contact },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(httpStatus !== undefined && { httpStatus }),
    cause: error,
  });
}

const codes = new Map<Code, ErrorCode>(errorCodes.map((name) => [rpcCodes[name], name]));

function fromConnect(error: ConnectError): ServiceError {
  return new ServiceError(codes.get(error.code) ?? "unknown", error.rawMessage, { cause: error });
}

/**
 * Handles errors of gRPC, gRPC-Web and Connect calls, whether the call itself throws them or they
 * occur in the middle of its stream.
 */
export function answerErrors(answer: AnswerError): Interceptor {
  const answered = (error: unknown, requestId: string): ConnectError =>
    error instanceof ConnectError && error.code !== Code.Unknown
      ? error
      : connectError(answer(error, requestId));

  async function* guard<T>(messages: AsyncIterable<T>, requestId: string): AsyncIterable<T> {
    try {
      yield* messages;
    } catch (error) {
      throw answered(error, requestId);
    }
  }

  return (next) => async (request) => {
    const { requestId } = request.contextValues.get(originKey);
    try {
      const response = await next(request);
      return response.stream
        ? { ...response, message: guard(response.message, requestId) }
        : response;
    } catch (error) {
      const { aborted, reason } = request.signal;
      // When the client closes the request, the library throws its own exception.
      const isGone = aborted && error === reason && error instanceof DOMException;
      if (isGone) throw new ConnectError("the client closed the request", Code.Canceled);
      throw answered(error, requestId);
    }
  };
}
