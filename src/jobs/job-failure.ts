import { createRegistry } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import type { StatusJson } from "../gen/google/rpc/status_pb.ts";
import { rpcCodes } from "../std/error-codes.ts";
import { ServiceError } from "../std/service-error.ts";

/** The detail types of a job's error. */
export const failureDetails = createRegistry(ErrorInfoSchema);

/**
 * Why a job has no transcript, as google.rpc.Status: in words, and for programs as
 * google.rpc.ErrorInfo.
 */
export function failureStatus({ code, message, reason, metadata }: ServiceError): StatusJson {
  const info = {
    "@type": `type.googleapis.com/${ErrorInfoSchema.typeName}`,
    reason,
    domain: "hlust",
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  return { code: rpcCodes[code], message, details: [info] };
}

/** The error that a caller sees if the cause is a bug. The operator's log has the details. */
export const internalFailure = new ServiceError(
  "internal",
  "the service failed on this recording; the log of its operator has the reason",
);

/** Returns the failure of a recording that crashed its worker at each attempt. */
export function poisonFailure(attempts: number): ServiceError {
  return new ServiceError("internal", `the worker stopped ${attempts} times on this recording`, {
    reason: "JOB_POISON",
    metadata: { tries: `${attempts}` },
  });
}

/** The status of a cancelled job (docs/api.md, Jobs). */
export const cancelledStatus = failureStatus(
  new ServiceError("cancelled", "the job was cancelled", { reason: "JOB_CANCELLED" }),
);
