import { Code } from "@connectrpc/connect";
import type { ErrorCode } from "./error-statuses.ts";

export { errorCodes, isErrorCode } from "./error-statuses.ts";
export type { ErrorCode } from "./error-statuses.ts";

/**
 * The google.rpc.Code of each error code. The error codes are the names of google.rpc.Code in lower
 * case.
 */
export const rpcCodes = {
  cancelled: Code.Canceled,
  unknown: Code.Unknown,
  invalid_argument: Code.InvalidArgument,
  deadline_exceeded: Code.DeadlineExceeded,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  permission_denied: Code.PermissionDenied,
  resource_exhausted: Code.ResourceExhausted,
  failed_precondition: Code.FailedPrecondition,
  aborted: Code.Aborted,
  out_of_range: Code.OutOfRange,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
  unavailable: Code.Unavailable,
  data_loss: Code.DataLoss,
  unauthenticated: Code.Unauthenticated,
} as const satisfies Readonly<Record<ErrorCode, Code>>;
