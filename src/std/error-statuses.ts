/**
 * The number of the google.rpc.Code of each error code, and the HTTP status that it maps to (api:
 * Errors). The error codes are the names of google.rpc.Code in lower case.
 */
export const errorStatuses = {
  cancelled: { code: 1, http: 499 },
  unknown: { code: 2, http: 500 },
  invalid_argument: { code: 3, http: 400 },
  deadline_exceeded: { code: 4, http: 504 },
  not_found: { code: 5, http: 404 },
  already_exists: { code: 6, http: 409 },
  permission_denied: { code: 7, http: 403 },
  resource_exhausted: { code: 8, http: 429 },
  failed_precondition: { code: 9, http: 400 },
  aborted: { code: 10, http: 409 },
  out_of_range: { code: 11, http: 400 },
  unimplemented: { code: 12, http: 501 },
  internal: { code: 13, http: 500 },
  unavailable: { code: 14, http: 503 },
  data_loss: { code: 15, http: 500 },
  unauthenticated: { code: 16, http: 401 },
} as const;

export type ErrorCode = keyof typeof errorStatuses;

export function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(errorStatuses, name);
}

export const errorCodes: readonly ErrorCode[] = Object.keys(errorStatuses).filter(isErrorCode);
