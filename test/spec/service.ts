import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApp, type App } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/std/log.ts";
import { seedPostgres } from "../seed-postgres.ts";

/** A whole service of its own: PostgreSQL, engines, doors; in a temporary folder that goes with it. */
export interface TestService extends AsyncDisposable {
  readonly address: string;
  readonly key: string;
  readonly dataFolder: string;
  readonly app: App;
  /** A call over REST with the key; `body` is sent as JSON. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
  readonly json: any;
}

export async function openTestService(
  environment: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  await using parts = new AsyncDisposableStack();
  const dataFolder = mkdtempSync(join(tmpdir(), "hlust-spec-"));
  parts.defer(() => {
    rmSync(dataFolder, { recursive: true, force: true });
  });
  if (!environment["DATABASE_URL"]) await seedPostgres(join(dataFolder, "postgres"));
  const config = readConfig({
    HLUST_PORT: "0",
    HLUST_DATA: dataFolder,
    HLUST_ENGINE_PROCESSES: "1",
    HLUST_ALLOW_MEDIA_FROM: "127.0.0.1",
    HLUST_ALLOW_WEBHOOKS_TO: "127.0.0.1",
    HLUST_LOG: "error",
    ...environment,
  });
  const app = parts.use(await openApp(config, { log: createLog(config.logLevel) }));
  const key = readFileSync(join(dataFolder, "api-key"), "utf8").trim();
  const open = parts.move();
  return {
    address: app.address,
    key,
    dataFolder,
    app,
    call: (method, path, body, headers) =>
      callRest(app.address, key, { method, path, body, headers }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** One REST call; `key` undefined sends no token. */
export async function callRest(
  address: string,
  key: string | undefined,
  call: {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    readonly headers?: Record<string, string> | undefined;
  },
): Promise<Answer> {
  const headers = new Headers(call.headers ?? {});
  if (key !== undefined && !headers.has("authorization")) {
    headers.set("authorization", `Bearer ${key}`);
  }
  const init: RequestInit = { method: call.method, headers };
  if (call.body !== undefined) {
    const isText = typeof call.body === "string";
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    init.body = isText ? call.body : JSON.stringify(call.body);
  }
  const response = await fetch(`${address}${call.path}`, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    json: text === "" ? undefined : JSON.parse(text),
  };
}

/** The bytes of the samples in a WAV file of flite, which has a header of 44 bytes. */
export function pcmOf(wav: Buffer): Buffer {
  return wav.subarray(44);
}
