/** A violation of a field, as the service tells it. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** A call that failed: what the service said, or that nothing was heard of it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP's; 0 where no answer came. */
  readonly status: number;
  /** ErrorInfo.reason, such as SIGNED_OUT; "OFFLINE" where no answer came. */
  readonly reason: string;
  /** ErrorInfo.metadata. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  /** When the service wants to be asked again, if it said. */
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

/** No answer came: the network is gone, or the service is. */
export function offlineError(): ApiError {
  return new ApiError("the service could not be reached", { status: 0, reason: "OFFLINE" });
}

/**
 * The google.rpc.Status in a body, in the form {"code", "message", "details"}, as far as it is one.
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

/** The failure that a body tells of; what is no body of the service is told by its status. */
export function errorOfBody(status: number, text: string): ApiError {
  const body = statusBodyOf(text);
  const details = body?.details ?? [];
  const retryDelay = details.find((detail) => detail.retryDelay !== undefined)?.retryDelay;
  const info = details.find((detail) => detail.reason !== undefined);
  return new ApiError(body?.message ?? `HTTP ${status}`, {
    status,
    reason: info?.reason ?? "UNKNOWN",
    metadata: info?.metadata ?? {},
    violations: details.flatMap((detail) => detail.fieldViolations ?? []),
    retryAfterMs: retryDelay === undefined ? undefined : Number.parseFloat(retryDelay) * 1000,
  });
}

function statusBodyOf(text: string): StatusBody | undefined {
  try {
    const body: StatusBody | null = JSON.parse(text);
    return typeof body?.message === "string" ? body : undefined;
  } catch {
    return undefined;
  }
}
