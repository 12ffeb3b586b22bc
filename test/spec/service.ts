import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pino } from "pino";
import { openApp, type App } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { openDatabase } from "../../src/database/database.ts";
import { createLog, type Log, type LogLevel } from "../../src/std/log.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { huntInLog, huntSecrets, noteSecret } from "./secrets.ts";

/**
 * A whole service with its own PostgreSQL, engines and port, in a temporary folder that is deleted
 * with it.
 */
export interface TestService extends AsyncDisposable {
  readonly address: string;
  readonly key: string;
  readonly dataFolder: string;
  readonly app: App;
  /** Makes a call over REST with the key. `body` is sent as JSON. */
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
    // No front processes are started, so the limits are not divided among any.
    HLUST_FRONT_PROCESSES: "1",
    // Tests compare streams of the same audio, which may otherwise differ by the load.
    HLUST_LIVE_EFFORT: "quick",
    HLUST_ALLOW_MEDIA_FROM: "127.0.0.1",
    HLUST_ALLOW_WEBHOOKS_TO: "127.0.0.1",
    HLUST_LOG: "error",
    // Tests send many wrong tokens, all from one address.
    HLUST_REFUSED_PER_MINUTE: "1000000000",
    ...environment,
  });
  const kept = keepLog(config.logLevel);
  const app = parts.use(await openApp(config, { log: kept.log }));
  const key = readFileSync(join(dataFolder, "api-key"), "utf8").trim();
  noteSecret(key, "credential");
  const open = parts.move();
  return {
    address: app.address,
    key,
    dataFolder,
    app,
    call: (method, path, body, headers) =>
      callRest(app.address, key, { method, path, body, headers }),
    async [Symbol.asyncDispose]() {
      const { url } = config.database;
      const folder = join(dataFolder, "postgres");
      {
        await using parts = new AsyncDisposableStack();
        parts.defer(() => open.disposeAsync());
        const { db } = parts.use(await openDatabase({ url, folder, log: createLog("silent") }));
        await huntSecrets(db, app.address);
      }
      // The lines include those of the shutdown. Without any lines, the search below would prove
      // nothing.
      assert.ok(kept.lines.length > 0);
      huntInLog(kept.lines);
    },
  };
}

/**
 * Stores the complete log of a service for the search. Lines at `level` or above are also written
 * to standard error.
 */
function keepLog(level: LogLevel): { readonly log: Log; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const shown = pino.levels.values[level] ?? Infinity;
  const log = pino(
    { level: "debug", base: null, messageKey: "event" },
    {
      write(line: string) {
        lines.push(line);
        if (Number(/"level":(\d+)/.exec(line)?.[1]) >= shown) process.stderr.write(line);
      },
    },
  );
  return { log, lines };
}

/** Makes one REST call, without a token if `key` is undefined. */
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

/** Returns the bytes of the samples in a WAV file from flite, which has a header of 44 bytes. */
export function pcmOf(wav: Buffer): Buffer {
  return wav.subarray(44);
}
