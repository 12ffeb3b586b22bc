import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { repeat } from "../std/repeat.ts";
import { outside } from "../tracing/tracing.ts";
import { ServiceError } from "../std/service-error.ts";
import type { Credential } from "./caller.ts";
import { readScopesNow } from "./live-credentials.ts";

/** An open stream: the credential it was opened with, and how to end it. */
export interface WatchedStream {
  readonly credential: Credential;
  /** The scope that its method requires; "" if it requires none. */
  readonly scope: string;
  readonly end: (reason: ServiceError) => void;
}

/**
 * Streams end within 5 s (docs/api.md, Access). The rest of that time is for the database read, and
 * for clients that read slowly.
 */
const everyMs = 1_000;

/**
 * Ends open streams whose credential has been revoked, has expired or has lost the scope. Sends one
 * statement per second for all streams of this node, and none while no stream is open. While the
 * database is unavailable, streams continue.
 */
export class CredentialWatch {
  readonly #db: Kysely<Tables>;
  readonly #log: Log;
  readonly #streams = new Set<WatchedStream>();
  /** Stops the checks; undefined while no stream is open. */
  #stop: AbortController | undefined;

  constructor(db: Kysely<Tables>, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Watches a stream until it is disposed of. */
  add(stream: WatchedStream): Disposable {
    this.#streams.add(stream);
    this.#stop ??= this.#start();
    return {
      [Symbol.dispose]: () => {
        this.#streams.delete(stream);
        if (this.#streams.size > 0) return;
        this.#stop?.abort();
        this.#stop = undefined;
      },
    };
  }

  #start(): AbortController {
    const stop = new AbortController();
    const { signal } = stop;
    const options = { everyMs, firstAfterMs: everyMs, log: this.#log, logsFirstOnly: true, signal };
    const event = "auth.streams_not_checked";
    void outside(() => repeat({ ...options, event }, async () => this.#check()));
    return stop;
  }

  async #check(): Promise<void> {
    // Streams that open during the read are checked at the next one.
    const open = [...this.#streams];
    if (open.length === 0) return;
    const asked = new Map(open.map(({ credential }) => [credential.id, credential]));
    const scopesNow = await readScopesNow(this.#db, [...asked.values()]);
    for (const stream of open) {
      const { credential, scope } = stream;
      const held: ReadonlySet<string> | undefined = scopesNow(credential);
      const isAllowed = held !== undefined && (scope === "" || held.has(scope));
      if (isAllowed || !this.#streams.delete(stream)) continue;
      this.#log.info({ credential: `${credential.kind}/${credential.id}` }, "auth.stream_ended");
      stream.end(revoked());
    }
  }
}

function revoked(): ServiceError {
  return new ServiceError(
    "unauthenticated",
    "the token or session of this stream was revoked, has expired, or lacks the scope",
    { reason: "TOKEN_INVALID" },
  );
}
