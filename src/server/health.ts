import { answerJson, targetOf, type HttpRequest, type HttpResponse } from "./http.ts";

/** One thing that must work before calls can be answered; rejects when it does not. */
export interface ReadinessCheck {
  readonly name: string;
  /** Resolves with facts to show, for example which sandbox is used. */
  readonly check: () => Promise<object | void>;
}

/** GET /healthz: the process answers. GET /readyz: every part does, within two seconds; 503 otherwise. */
export function createHealthDoor(checks: readonly ReadinessCheck[]): {
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
      const results = await Promise.all(checks.map(async (each) => [each.name, await run(each)]));
      const parts: Record<string, { ready: boolean }> = Object.fromEntries(results);
      const isReady = Object.values(parts).every(({ ready }) => ready);
      const body = { status: isReady ? "ready" : "not ready", parts };
      answerJson(response, isReady ? 200 : 503, JSON.stringify(body));
    },
  };
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
