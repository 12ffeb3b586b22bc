import { errorFields, type Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { answerFailure, answerJson, targetOf, type HttpDoor } from "./http.ts";

/** One part that must work before calls can be answered. */
export interface ReadinessCheck {
  readonly name: string;
  /**
   * The kinds of calls that need it. The uses of all parts together are those that /readyz accepts.
   */
  readonly uses: readonly string[];
  /**
   * Resolves with facts to show, for example which sandbox is used; if the part is not ready, with
   * `ready: false` and a `reason`. Rejects if the part fails: only the message of a ServiceError is
   * shown to clients.
   */
  readonly check: () => Promise<object | void>;
}

/** The report of one part. */
export interface PartReport {
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly reason?: string;
}

/** The reports of the parts, by name; the whole is ready if every part is. */
export interface ReadinessReport {
  readonly isReady: boolean;
  readonly parts: Readonly<Record<string, PartReport>>;
}

export interface Readiness {
  /** The uses that a request can name. */
  readonly uses: readonly string[];
  /** Checks every part that one of these uses needs; undefined: every part. */
  report(uses?: readonly string[]): Promise<ReadinessReport>;
}

/**
 * How long a report is reused: health needs no token, and this bounds how often parts are checked.
 */
export const reportMsMax = 1_000;
/** A part that has not answered after this time is not ready. */
const answerMsMax = 2_000;

interface ReadinessParts {
  /** What clients may know of an error that is not a ServiceError. */
  readonly explain: (error: unknown) => ServiceError | undefined;
  readonly log: Log;
  readonly now?: () => number;
}

/**
 * Checks the parts independently, each for at most two seconds. A report is reused for a second.
 */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  parts: ReadinessParts,
): Readiness {
  const all = checks.map((check) => ({ ...check, part: new Part(check, parts) }));
  return {
    uses: [...new Set(checks.flatMap(({ uses }) => uses))],
    async report(wanted) {
      const needed = all.filter(
        ({ uses }) => wanted === undefined || uses.some((use) => wanted.includes(use)),
      );
      const reports = await Promise.all(
        needed.map(async ({ name, part }) => [name, await part.report()] as const),
      );
      return {
        isReady: reports.every(([, { ready }]) => ready),
        parts: Object.fromEntries(reports),
      };
    },
  };
}

/** A part with at most one running check: checks that hang do not pile up. */
class Part {
  readonly #check: ReadinessCheck;
  readonly #parts: ReadinessParts;
  readonly #now: () => number;
  /** The running check, and when it began. */
  #asked: { readonly answer: Promise<PartReport>; readonly since: number } | undefined;
  #report: Promise<PartReport> | undefined;
  #reportEndsAt = Infinity;
  #wasReady = true;

  constructor(check: ReadinessCheck, parts: ReadinessParts) {
    this.#check = check;
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  report(): Promise<PartReport> {
    if (this.#report && this.#now() < this.#reportEndsAt) return this.#report;
    this.#reportEndsAt = Infinity;
    this.#report = this.#inTime().finally(() => {
      this.#reportEndsAt = this.#now() + reportMsMax;
    });
    return this.#report;
  }

  /**
   * The part's report, or one that says it is late: immediately if its running check was late
   * before.
   */
  async #inTime(): Promise<PartReport> {
    this.#asked ??= { answer: this.#ask(), since: this.#now() };
    const { answer, since } = this.#asked;
    const late = Promise.withResolvers<PartReport>();
    const timer = setTimeout(
      () => {
        late.resolve({ ready: false, reason: `no answer within ${answerMsMax / 1000} s` });
      },
      Math.max(0, answerMsMax - (this.#now() - since)),
    );
    const report = await Promise.race([answer, late.promise]);
    clearTimeout(timer);
    this.#note(report);
    return report;
  }

  async #ask(): Promise<PartReport> {
    try {
      return { ready: true, ...(await this.#check.check()) };
    } catch (error) {
      const known = error instanceof ServiceError ? error : this.#parts.explain(error);
      if (!known && this.#wasReady) {
        const part = this.#check.name;
        this.#parts.log.error({ ...errorFields(error), part }, "readiness.check_failed");
      }
      return {
        ready: false,
        reason: known?.message ?? "the check failed: see the log of the service",
      };
    } finally {
      this.#asked = undefined;
    }
  }

  /** Logs each change. */
  #note({ ready, reason }: PartReport): void {
    if (ready === this.#wasReady) return;
    this.#wasReady = ready;
    const part = this.#check.name;
    if (ready) this.#parts.log.info({ part }, "readiness.back");
    else this.#parts.log.warn({ part, reason }, "readiness.lost");
  }
}

/**
 * GET /healthz is answered 200 if the process answers at all. GET /readyz is answered 200 if every
 * part is ready, or with ?for=speech,jobs the parts that these uses need; otherwise, and after
 * `leaving` aborts, 503.
 */
export function createHealthDoor(readiness: Readiness, leaving: AbortSignal): HttpDoor {
  return {
    needsNoHost: true,
    handles: (request) => {
      const path = targetOf(request).split("?", 1)[0];
      const isRead = request.method === "GET" || request.method === "HEAD";
      return isRead && (path === "/healthz" || path === "/readyz");
    },
    async handle(request, response) {
      if (targetOf(request).startsWith("/healthz")) {
        answerJson(response, 200, JSON.stringify({ status: "ok" }));
        return;
      }
      const uses = usesOf(targetOf(request));
      const unknown = uses?.find((use) => !readiness.uses.includes(use));
      if (unknown !== undefined) {
        answerFailure(response, unknownUse(unknown, readiness.uses));
        return;
      }
      const { isReady, parts } = await readiness.report(uses);
      const isUp = isReady && !leaving.aborted;
      const status = leaving.aborted ? "shutting down" : isReady ? "ready" : "not ready";
      answerJson(response, isUp ? 200 : 503, JSON.stringify({ status, parts }));
    },
  };
}

/** The value of `for`, split at its commas; undefined without one. */
function usesOf(target: string): readonly string[] | undefined {
  const [, query = ""] = target.split(/\?(.*)/s, 2);
  return new URLSearchParams(query).get("for")?.split(",");
}

function unknownUse(use: string, known: readonly string[]): ServiceError {
  const description = `must be one of ${known.join(", ")}, not ${shown(use)}`;
  return new ServiceError("invalid_argument", `for: ${description}`, {
    violations: [{ field: "for", description }],
  });
}
