import { answerJson, targetOf, type HttpRequest, type HttpResponse } from "./http.ts";

/** One thing that must work before calls can be answered; rejects when it does not. */
export interface ReadinessCheck {
  readonly name: string;
  /** Resolves with facts to show, for example which sandbox is used. */
  readonly check: () => Promise<object | void>;
}

/** What the parts say, by name; ready when each of them is. */
export interface ReadinessReport {
  readonly isReady: boolean;
  readonly parts: Readonly<Record<string, { readonly ready: boolean }>>;
}

/** How long a report counts as now: anybody may ask, and the parts are asked no more often than this. */
export const reportMsMax = 1_000;

/** Asks every part, each for at most two seconds. One report answers all who ask within a second of it. */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  now: () => number = () => performance.now(),
): () => Promise<ReadinessReport> {
  let report: Promise<ReadinessReport> | undefined;
  let endsAt = Infinity;
  return () => {
    if (report && now() < endsAt) return report;
    endsAt = Infinity;
    report = ask(checks).finally(() => {
      endsAt = now() + reportMsMax;
    });
    return report;
  };
}

async function ask(checks: readonly ReadinessCheck[]): Promise<ReadinessReport> {
  const results = await Promise.all(checks.map(async (each) => [each.name, await run(each)]));
  const parts: Record<string, { ready: boolean }> = Object.fromEntries(results);
  return { isReady: Object.values(parts).every(({ ready }) => ready), parts };
}

async function run({ check }: ReadinessCheck): Promise<{ ready: boolean }> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    timeout.reject(new Error("no answer in 2 s"));
  }, 2_000);
  try {
    return { ready: true, ...(await Promise.race([check(), timeout.promise])) };
  } catch {
    return { ready: false };
  } finally {
    clearTimeout(timer);
  }
}

/** GET /healthz: the process answers. GET /readyz: every part does; 503 otherwise. */
export function createHealthDoor(readiness: () => Promise<ReadinessReport>): {
  handles(request: HttpRequest): boolean;
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
} {
  return {
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
      const { isReady, parts } = await readiness();
      const body = { status: isReady ? "ready" : "not ready", parts };
      answerJson(response, isReady ? 200 : 503, JSON.stringify(body));
    },
  };
}
