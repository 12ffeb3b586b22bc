import { errorFields, type Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { answerFailure } from "./answer-failure.ts";
import { answerJson, targetOf, type HttpDoor } from "./http.ts";

/** A part that must work before calls can be served. */
export interface ReadinessCheck {
  readonly name: string;
  /**
   * The kinds of calls that need the part. /readyz accepts every use that at least one part has.
   */
  readonly uses: readonly string[];
  /**
   * Resolves with facts to show, for example which sandbox is used. If the part is not ready,
   * resolves with `ready: false` and a `reason`. Rejects if the part fails: only the message of a
   * ServiceError is shown to clients.
   */
  readonly check: () => Promise<object | void>;
}

/** The report of one part. */
export interface PartReport {
  readonly ready: boolean;
  /** The reason why the part is not ready. */
  readonly reason?: string;
}

/** The reports of the parts, by name. The whole is ready if every part is. */
export interface ReadinessReport {
  readonly isReady: boolean;
  readonly parts: Readonly<Record<string, PartReport>>;
}

export interface Readiness {
  /** The uses that a request can name. */
  readonly uses: readonly string[];
  /** Checks every part that one of these uses needs, or every part if `uses` is undefined. */
  report(uses?: readonly string[]): Promise<ReadinessReport>;
}

/**
 * How long a report is reused. Health checks need no token, so this limits how often parts are
 * checked.
 */
export const reportMsMax = 1_000;
/** The time after which a part that has not responded is reported as not ready. */
const answerMsMax = 2_000;

interface ReadinessParts {
  /** Returns the error that clients may see for an error that is not a ServiceError. */
  readonly explain: (error: unknown) => ServiceError | undefined;
  readonly log: Log;
  readonly now?: () => number;
}

/**
 * Creates the readiness of the parts. Parts are checked independently, each for at most two
 * seconds. A report is reused for a second.
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

/** A part with at most one running check, so that checks that hang do not accumulate. */
class Part {
  readonly #check: ReadinessCheck;
  readonly #parts: ReadinessParts;
  readonly #now: () => number;
  /** The running check and its start time. */
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
   * Returns the part's report, or a report that the part is late. The latter is returned
   * immediately if the running check was already late.
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

  /** Logs each change of the part's state. */
  #note({ ready, reason }: PartReport): void {
    if (ready === this.#wasReady) return;
    this.#wasReady = ready;
    const part = this.#check.name;
    if (ready) this.#parts.log.info({ part }, "readiness.back");
    else this.#parts.log.warn({ part, reason }, "readiness.lost");
  }
}

/**
 * Creates the door of the health checks. GET /healthz returns 200 if the process responds at all.
 * GET /readyz returns 200 if every part is ready or, with ?for=speech,jobs, if the parts that these
 * uses need are ready. Otherwise, and after `leaving` aborts, GET /readyz returns 503. GET
 * /startupz returns 200 as soon as `isStarting` has returned false.
 */
export function createHealthDoor(
  readiness: Readiness,
  { leaving, isStarting }: { readonly leaving: AbortSignal; readonly isStarting: () => boolean },
): HttpDoor {
  let hasStarted = false;
  const starts = (): boolean => {
    hasStarted ||= !isStarting();
    return !hasStarted;
  };
  return {
    needsNoHost: true,
    isForProbes: true,
    refusesByItself: true,
    handles: (request) => {
      const path = targetOf(request).split("?", 1)[0];
      const isRead = request.method === "GET" || request.method === "HEAD";
      return isRead && paths.has(path ?? "");
    },
    async handle(request, response) {
      if (targetOf(request).startsWith("/healthz")) {
        answerJson(response, 200, JSON.stringify({ status: "ok" }));
        return;
      }
      if (targetOf(request).startsWith("/startupz")) {
        const status = starts() ? "starting" : "started";
        answerJson(response, status === "started" ? 200 : 503, JSON.stringify({ status }));
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
      const status = leaving.aborted ? "draining" : readyStatus(isReady, starts());
      answerJson(response, isUp ? 200 : 503, JSON.stringify({ status, parts }));
    },
  };
}

const paths: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/startupz"]);

function readyStatus(isReady: boolean, isStarting: boolean): string {
  if (isReady) return "ready";
  return isStarting ? "starting" : "not ready";
}

/** Returns the value of `for`, split at its commas, or undefined if there is none. */
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
