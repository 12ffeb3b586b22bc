import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import type { Credential } from "./caller.ts";
import { readScopesNow } from "./live-credentials.ts";

/** An open stream: what it was opened with, and how it is ended. */
export interface WatchedStream {
  readonly credential: Credential;
  /** What its method asks for; "" for nothing. */
  readonly scope: string;
  readonly end: (reason: ServiceError) => void;
}

/**
 * Decisions, Access: streams end within 5 s; the rest is for the read, and for callers that take
 * nothing.
 */
const everyMs = 1_000;

/**
 * Ends open streams whose credential is revoked, has expired or may no longer do what they do: one
 * statement each second for all streams of this node, and none while no stream is open. While the
 * database is away streams go on.
 */
export class CredentialWatch {
  readonly #db: Kysely<Tables>;
  readonly #log: Log;
  readonly #streams = new Set<WatchedStream>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  /** Whether the database did not answer the last time. */
  #isBlind = false;

  constructor(db: Kysely<Tables>, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** From now until it is disposed of. */
  add(stream: WatchedStream): Disposable {
    this.#streams.add(stream);
    this.#lookLater();
    return {
      [Symbol.dispose]: () => {
        this.#streams.delete(stream);
        if (this.#streams.size > 0) return;
        clearTimeout(this.#timer);
        this.#timer = undefined;
      },
    };
  }

  #lookLater(): void {
    if (this.#isLooking) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#isLooking = true;
      this.#look()
        .then(
          () => {
            this.#isBlind = false;
          },
          (error: unknown) => {
            if (!this.#isBlind) this.#log.warn(errorFields(error), "auth.streams_not_checked");
            this.#isBlind = true;
          },
        )
        .finally(() => {
          this.#isLooking = false;
          if (this.#streams.size > 0) this.#lookLater();
        });
    }, everyMs);
  }

  async #look(): Promise<void> {
    // Streams that open while the database is asked are looked at the next time.
    const open = [...this.#streams];
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
    "what this stream was opened with has been revoked, or is no longer in force",
    { reason: "TOKEN_INVALID" },
  );
}
