/** A violation of a field, as the service reports it. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** A call that failed, with the service's error or without any response. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The ErrorInfo.reason, such as SIGNED_OUT; "OFFLINE" if there was no response. */
  readonly reason: string;
  /** The metadata of the ErrorInfo. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  /**
   * How long the service asks clients to wait before another attempt; undefined if it does not
   * specify this.
   */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    facts: {
      readonly status: number;
      readonly reason: string;
      readonly metadata?: Readonly<Record<string, string>>;
      readonly violations?: readonly FieldViolation[];
      readonly retryAfterMs?: number | undefined;
    },
  ) {
    super(message);
    this.status = facts.status;
    this.reason = facts.reason;
    this.metadata = facts.metadata ?? {};
    this.violations = facts.violations ?? [];
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** Returns the error for a call without a response: the network or the service is unavailable. */
export function offlineError(): ApiError {
  return new ApiError("the service could not be reached", { status: 0, reason: "OFFLINE" });
}

/**
 * The google.rpc.Status in the body of a response. The body is not checked, so any field may be
 * absent.
 */
interface StatusBody {
  readonly message?: string;
  readonly details?: readonly {
    readonly "@type"?: string;
    readonly reason?: string;
    readonly metadata?: Readonly<Record<string, string>>;
    readonly fieldViolations?: readonly FieldViolation[];
    readonly retryDelay?: string;
  }[];
}

/**
 * Returns the error in the body of a response. If the body is not the service's, the error is
 * derived from the status and the header Retry-After.
 */
export function errorOfBody(
  status: number,
  text: string,
  { retryAfter }: { readonly retryAfter?: string | null } = {},
): ApiError {
  const body = statusBodyOf(text);
  const details = body?.details ?? [];
  const retryDelay = details.find((detail) => detail.retryDelay !== undefined)?.retryDelay;
  const info = details.find((detail) => detail.reason !== undefined);
  return new ApiError(body?.message ?? `HTTP ${status}`, {
    status,
    reason: info?.reason ?? "UNKNOWN",
    metadata: info?.metadata ?? {},
    violations: details.flatMap((detail) => detail.fieldViolations ?? []),
    retryAfterMs: msOfSeconds(retryDelay ?? retryAfter ?? ""),
  });
}

/** Returns the milliseconds of "12.5s" or "12"; undefined for anything else. */
function msOfSeconds(text: string): number | undefined {
  return /^\d+(\.\d+)?s?$/.test(text) ? Number.parseFloat(text) * 1_000 : undefined;
}

function statusBodyOf(text: string): StatusBody | undefined {
  try {
    const body: StatusBody | null = JSON.parse(text);
    return typeof body?.message === "string" ? body : undefined;
  } catch {
    return undefined;
  }
}
