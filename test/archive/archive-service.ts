import { Agent, request } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { scopes } from "../../src/auth/caller.ts";
import { openDatabase } from "../../src/database/database.ts";
import { jsonParse } from "../../src/std/json-parse.ts";
import { createLog } from "../../src/std/log.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { startService, type ServiceProcess } from "../fault/process.ts";

export interface Call {
  readonly method: string;
  /** The path and the query. */
  readonly target: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
  readonly json: any;
}

/** The service as a real process with a permanent folder, which is killed and restarted. */
export interface ArchiveService extends AsyncDisposable {
  readonly crashes: number;
  /**
   * Calls the service once it is up; returns undefined if the service was killed before the whole
   * response was received.
   */
  call(key: string | undefined, call: Call): Promise<CallAnswer | undefined>;
  /** Repeats a call until it gets a response; only for calls that change nothing. */
  read(key: string | undefined, call: Call): Promise<CallAnswer>;
  /** Kills the service (kill -9) after a delay and restarts it; only one crash at a time. */
  crash(afterMs: number): Promise<void>;
  /** Creates a key with every scope, for a new account without any content. */
  newKey(): Promise<string>;
}

export async function openArchiveService(dataFolder: string): Promise<ArchiveService> {
  // Uploads are not recordings, so workers have nothing to do.
  const start = () => startService(dataFolder, { HLUST_ENGINE: "scripted", HLUST_ROLE: "api" });
  await using parts = new AsyncDisposableStack();
  const agent = new Agent({ keepAlive: true });
  parts.defer(() => {
    agent.destroy();
  });
  let up: Promise<ServiceProcess> = start();
  parts.defer(async () => {
    await (await up).stop();
  });
  await up;
  const folder = join(dataFolder, "postgres");
  const log = createLog("silent");
  const { db } = parts.use(await openDatabase({ url: undefined, folder, log }));
  let crashes = 0;
  let isDown = false;
  const call: ArchiveService["call"] = async (key, sent) => {
    const { address } = await up;
    const before = crashes;
    try {
      return await send(agent, address, key, sent);
    } catch (error) {
      if (crashes === before) throw error;
      return undefined;
    }
  };
  const open = parts.move();
  return {
    get crashes() {
      return crashes;
    },
    call,
    async read(key, sent) {
      for (;;) {
        const answer = await call(key, sent);
        if (answer) return answer;
      }
    },
    async crash(afterMs) {
      if (isDown) return;
      isDown = true;
      const running = await up;
      await delay(afterMs);
      crashes += 1;
      up = running.crash().then(start);
      await up;
      isDown = false;
    },
    async newKey() {
      const { token } = await addApiKey(db, await addAccount(db), [...scopes]);
      return token;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function send(
  agent: Agent,
  address: string,
  key: string | undefined,
  { method, target, body, headers = {} }: Call,
): Promise<CallAnswer> {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const { promise, resolve, reject } = Promise.withResolvers<CallAnswer>();
  const sent = request(`${address}${target}`, {
    agent,
    method,
    headers: {
      ...headers,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-length": `${bytes.length}` }),
    },
  });
  sent.once("error", reject);
  sent.once("response", (response) => {
    buffer(response).then((whole) => {
      const { statusCode: status = 0, headers: received } = response;
      const isJson = received["content-type"]?.startsWith("application/json") === true;
      const json = isJson ? jsonParse(whole.toString()) : undefined;
      resolve({ status, headers: received, bytes: whole, json });
    }, reject);
  });
  sent.end(bytes);
  return await promise;
}
