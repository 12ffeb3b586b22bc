import type { ErrorCode } from "./error-statuses.ts";

/**
 * One violation in a request. `field` is a path of JSON names, such as
 * `segments[0].words[2].startTime`.
 */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

export interface ServiceErrorOptions {
  /** The ErrorInfo.reason in UPPER_SNAKE_CASE. Default: the code in upper case. */
  readonly reason?: string;
  readonly violations?: readonly FieldViolation[];
  /** The ErrorInfo.metadata: short facts for programs. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly retryAfterMs?: number;
  /** An HTTP status that fits better than that of the code, for example 413. */
  readonly httpStatus?: number;
  readonly cause?: unknown;
}

/**
 * A failure that clients see (docs/api.md, Errors). The message names the field, its value and the
 * limit. Any other thrown value is a bug: it is logged with its details, and the client receives
 * "internal".
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ErrorCode;
  readonly reason: string;
  readonly violations: readonly FieldViolation[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterMs: number | undefined;
  readonly httpStatus: number | undefined;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = options.reason ?? code.toUpperCase();
    this.violations = options.violations ?? [];
    this.metadata = options.metadata ?? {};
    this.retryAfterMs = options.retryAfterMs;
    this.httpStatus = options.httpStatus;
  }
}

/** Collects every violation in a request so that they can be reported together. */
export class Violations {
  readonly #all: FieldViolation[] = [];

  add(field: string, description: string): void {
    this.#all.push({ field, description });
  }

  get all(): readonly FieldViolation[] {
    return this.#all;
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** Throws invalid_argument with every violation, if there are any. */
  throwIfAny(): void {
    if (this.#all.length > 0) throw invalidArgument(this.#all);
  }
}

/** With more violations, the response could be longer than the request. */
const violationsMax = 100;

/**
 * Returns invalid_argument with the first hundred violations. The message contains the first ten as
 * text.
 */
export function invalidArgument(violations: readonly FieldViolation[]): ServiceError {
  const shown = violations.slice(0, 10).map(({ field, description }) => `${field}: ${description}`);
  if (violations.length > shown.length) {
    shown.push(`and ${violations.length - shown.length} more`);
  }
  const kept = violations.slice(0, violationsMax);
  return new ServiceError("invalid_argument", shown.join("; "), { violations: kept });
}

/**
 * Quotes a client's value for a message: at most 60 characters, with control characters escaped.
 */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
