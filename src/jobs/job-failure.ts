import { createRegistry } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import type { StatusJson } from "../gen/google/rpc/status_pb.ts";
import { rpcCodes } from "../std/error-codes.ts";
import { ServiceError } from "../std/service-error.ts";

/** The types of details of a job's error. */
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

/** What a caller sees of a bug; the operator's log has the rest. */
export const internalFailure = new ServiceError(
  "internal",
  "the service failed on this recording; the log of its operator has the reason",
);

/** The failure of a recording that crashed its worker each time. */
export function poisonFailure(attempts: number): ServiceError {
  return new ServiceError("internal", `the worker stopped ${attempts} times on this recording`, {
    reason: "JOB_POISON",
    metadata: { tries: `${attempts}` },
  });
}

/** docs/api.md, Jobs: how a cancelled job ends. */
export const cancelledStatus = failureStatus(
  new ServiceError("cancelled", "the job was cancelled", { reason: "JOB_CANCELLED" }),
);
