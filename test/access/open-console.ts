import { join } from "node:path";
import type { Kysely } from "kysely";
import { readSecretToken } from "../../src/auth/secret-token.ts";
import { cachedSessions, type Session } from "../../src/auth/session-store.ts";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { createLog } from "../../src/std/log.ts";
import { consoleHeaders } from "../fixtures/signed-in.ts";
import { callRest, openTestService, type Answer, type TestService } from "../spec/service.ts";

/** A service, its database, and calls like those of a browser. */
export interface TestConsole extends AsyncDisposable {
  readonly service: TestService;
  readonly db: Kysely<Tables>;
  /** The id of the service's first account. */
  readonly accountId: string;
  /**
   * Makes a call as the console does for the user with this secret in the cookie; `headers` replace
   * the console's own headers.
   */
  ask(call: {
    readonly method?: string;
    readonly path: string;
    readonly body?: unknown;
    readonly secret?: string | undefined;
    readonly headers?: Readonly<Record<string, string>>;
  }): Promise<Answer>;
  /** Signs in with the API key; returns the secret in the cookie. */
  signIn(apiKey?: string): Promise<string>;
}

export async function openTestConsole(
  environment: Readonly<Record<string, string>> = {},
): Promise<TestConsole> {
  await using parts = new AsyncDisposableStack();
  const settings = { HLUST_ENGINE: "scripted", HLUST_ROLE: "api", ...environment };
  const service = parts.use(await openTestService(settings));
  const folder = join(service.dataFolder, "postgres");
  const log = createLog("silent");
  const { db } = parts.use(await openDatabase({ url: undefined, folder, log }));
  const { id: accountId } = await db.selectFrom("account").select("id").executeTakeFirstOrThrow();
  const ask: TestConsole["ask"] = async ({ method = "GET", path, body, secret, headers }) => {
    const own = consoleHeaders(secret, method === "GET" ? undefined : await ownerOf(db, secret));
    return await callRest(service.address, undefined, {
      method,
      path,
      body,
      headers: { ...own, ...headers },
    });
  };
  const open = parts.move();
  return {
    service,
    db,
    accountId,
    ask,
    async signIn(apiKey = service.key) {
      const body = { apiKey };
      return secretSetBy(await ask({ method: "POST", path: "/console/session", body })) ?? "";
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/**
 * Returns the session of a secret as a page reads it when opened, or undefined if there is none.
 */
async function ownerOf(db: Kysely<Tables>, secret = ""): Promise<Session | undefined> {
  const read = readSecretToken("session_", secret);
  return read && (await cachedSessions(db, Date.now).find(read.id));
}

/**
 * Returns the secret that a response sets in the session's cookie: "" if the response deletes the
 * cookie, undefined if it leaves the cookie unchanged.
 */
export function secretSetBy({ headers }: Pick<Answer, "headers">): string | undefined {
  for (const cookie of headers.getSetCookie()) {
    const [, secret] = /^__Host-hlust=([^;]*);/.exec(cookie) ?? [];
    if (secret !== undefined) return secret;
  }
  return undefined;
}
