import type { JsonValue, Registry } from "@bufbuild/protobuf";
import { createRegistry, fromJson } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  file_google_rpc_error_details,
} from "../gen/google/rpc/error_details_pb.ts";
import { rpcCodes } from "../std/error-codes.ts";
import { ServiceError } from "../std/service-error.ts";
import { isObject } from "../transcoding/is-object.ts";

/** The types of error details. Messages that include a google.rpc.Status can contain them too. */
export const errorDetails: Registry = createRegistry(file_google_rpc_error_details);

/**
 * Reads a google.rpc.Status in JSON, which is the body of a failed call or the {"error"} of a
 * stream (docs/api.md, Errors). Returns a ConnectError whose findDetails() has the details, or
 * undefined for anything else.
 */
export function errorOfStatus(status: JsonValue, metadata?: Headers): ConnectError | undefined {
  if (!isObject(status)) return undefined;
  const { code, message, details } = status;
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  const known = Object.values(rpcCodes).find((one: number) => one === code);
  const error = new ConnectError(message, known ?? Code.Unknown, metadata);
  for (const detail of Array.isArray(details) ? details : []) {
    const any = readAny(detail);
    const type = any?.typeUrl.split("/").at(-1);
    if (any && type) error.details.push({ type, value: any.value, debug: detail });
  }
  return error;
}

/**
 * Returns the error of a failed response. A body that does not have the form of the service's
 * errors comes from a proxy.
 */
export async function errorOfResponse(response: Response): Promise<ConnectError> {
  const text = await response.text();
  const error = errorOfStatus(jsonOf(text) ?? null, response.headers);
  if (error !== undefined) return error;
  const code = statusCodes[response.status] ?? Code.Unknown;
  const problem = `HTTP ${response.status} ${response.statusText}`.trim();
  return new ConnectError(problem, code, response.headers);
}

/** Returns the error for a call without a response. A ConnectError is returned unchanged. */
export function errorOfConnection(error: unknown, what: string): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof ServiceError) return errorOfService(error);
  if (error instanceof Error && error.name === "AbortError") return ConnectError.from(error);
  return new ConnectError(what, Code.Unavailable, undefined, undefined, error);
}

/**
 * Returns the error for a request that was refused before it was sent: the same error that the
 * service would return.
 */
export function errorOfService({ code, message, violations }: ServiceError): ConnectError {
  const details =
    violations.length === 0
      ? []
      : [{ desc: BadRequestSchema, value: { fieldViolations: [...violations] } }];
  return new ConnectError(message, rpcCodes[code], undefined, details);
}

/** The codes for HTTP statuses without an error body, as gRPC maps them. */
const statusCodes: Readonly<Record<number, Code>> = {
  400: Code.Internal,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.Unimplemented,
  429: Code.Unavailable,
  502: Code.Unavailable,
  503: Code.Unavailable,
  504: Code.Unavailable,
};

/** Reads a detail. Returns undefined if its type is unknown. */
function readAny(detail: JsonValue) {
  try {
    return fromJson(AnySchema, detail, { registry: errorDetails, ignoreUnknownFields: true });
  } catch {
    return undefined;
  }
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
