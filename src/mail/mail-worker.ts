import { setTimeout as sleep } from "node:timers/promises";
import { dropSignInToken, signInLink } from "../auth/sign-in-token.ts";
import type { Database } from "../database/database.ts";
import { isDatabaseTrouble } from "../database/database-trouble.ts";
import { retryWhileDatabaseDown } from "../database/retry-while-down.ts";
import { errorFields, type Log } from "../std/log.ts";
import { repeat } from "../std/repeat.ts";
import type { MailFailure } from "./explain-failure.ts";
import { invitationLetter } from "./invitation-letter.ts";
import type { MailOptions } from "./mail-options.ts";
import {
  beginAttempt,
  leaseMail,
  noteFailed,
  noteSent,
  releaseMail,
  sweepMail,
  type LeasedMail,
} from "./mail-queue.ts";
import { sendMail } from "./send-mail.ts";

export interface MailWorkerParts {
  readonly database: Pick<Database, "db">;
  readonly options: MailOptions;
  /** Whether members sign in at a provider, so that their mail has no link that signs in. */
  readonly hasProvider: boolean;
  readonly log: Log;
  /** Default: Math.random. */
  readonly chance?: () => number;
  /** For tests: the time for an attempt. Default: 60 s. The lease is twice as long. */
  readonly timeoutMs?: number;
  /** For tests. Default: 30 s. */
  readonly sweepMs?: number;
}

/** The maximum number of mails that a node sends concurrently. */
const sendingMax = 4;
const pollMs = 1_000;
/** How long a worker that stops waits for the server. */
const stopMsMax = 3_000;

/**
 * Sends the mail of accounts until the worker is disposed of, which releases mail whose body was
 * not on its way.
 */
export function openMailWorker(parts: MailWorkerParts): AsyncDisposable {
  return new MailWorker(parts);
}

/** The failure for a bug; the log has the details. */
const internalFailure: MailFailure = {
  problem: "INTERNAL",
  isFinal: false,
  isUnknown: false,
  response: null,
  status: undefined,
  code: undefined,
};

class MailWorker implements AsyncDisposable {
  readonly #parts: Required<MailWorkerParts>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly #loop: Promise<unknown>;

  constructor(parts: MailWorkerParts) {
    this.#parts = { chance: Math.random, timeoutMs: 60_000, sweepMs: 30_000, ...parts };
    this.#loop = Promise.all([
      this.#repeat(0, "mail.lease_failed", () => this.#next()),
      this.#repeat(this.#parts.sweepMs, "mail.sweep_failed", () => this.#sweep()),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("the worker stops"));
    const timer = setTimeout(() => this.#stopped.abort(this.#stopping.signal.reason), stopMsMax);
    await this.#loop;
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  get #leaseMs(): number {
    return this.#parts.timeoutMs * 2;
  }

  async #repeat(everyMs: number, event: string, step: () => Promise<void>): Promise<void> {
    const { log } = this.#parts;
    const failing = { afterFailureMs: pollMs * 4, isWarning: isDatabaseTrouble };
    await repeat({ everyMs, ...failing, log, event, signal: this.#stopping.signal }, step);
  }

  /** Starts to send what is due as far as there is room; otherwise waits. */
  async #next(): Promise<void> {
    const { database } = this.#parts;
    const room = sendingMax - this.#running.size;
    const leaseMs = this.#leaseMs;
    const due = room > 0 ? await leaseMail(database.db, { leaseMs, room }) : [];
    for (const mail of due) this.#start(mail);
    if (due.length > 0) return;
    const woken = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, woken.signal]);
    const wait = sleep(pollMs, undefined, { signal }).catch(() => {});
    await Promise.race([wait, ...this.#running]);
    woken.abort();
  }

  #start(mail: LeasedMail): void {
    const run = this.#send(mail)
      .catch((error: unknown) => {
        // Another attempt follows when the lease expires.
        this.#parts.log.error({ mailId: mail.id, ...errorFields(error) }, "mail.lost");
      })
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #send(mail: LeasedMail): Promise<void> {
    const { database, options, hasProvider, log, timeoutMs } = this.#parts;
    const { db } = database;
    const startedAt = performance.now();
    const needs = { needsToken: !hasProvider, leaseMs: this.#leaseMs };
    const begun = await this.#noted(() => beginAttempt(db, mail, needs));
    if (!begun) return;
    const { token } = begun;
    const { publicUrl } = options;
    const link = token === undefined ? `${publicUrl}/console/` : signInLink(publicUrl, token);
    const letter = invitationLetter({ ...mail, link, signsIn: token !== undefined });
    const { signal } = this.#stopped;
    const failure = await sendMail(options, letter, { timeoutMs, signal }).catch(
      (error: unknown) => {
        if (signal.aborted) return "released" as const;
        log.error({ mailId: mail.id, ...errorFields(error) }, "mail.send_failed");
        return internalFailure;
      },
    );
    const wasNotSent = failure === "released" || (failure && !failure.isUnknown);
    if (wasNotSent && token !== undefined) await this.#noted(() => dropSignInToken(db, token));
    const elapsedMs = Math.round(performance.now() - startedAt);
    const fields = { mailId: mail.id, attempts: mail.attempts, ms: elapsedMs };
    if (failure === "released") {
      await this.#noted(() => releaseMail(db, mail));
      log.info(fields, "mail.released");
    } else if (failure) await this.#noteFailed(mail, failure, fields);
    else if (await this.#noted(() => noteSent(db, mail))) log.info(fields, "mail.sent");
  }

  /**
   * Writes down what has become of an attempt, also after a short outage of the database. Otherwise
   * a mail that has arrived would be sent again.
   */
  async #noted<T>(write: () => Promise<T>): Promise<T> {
    return await retryWhileDatabaseDown(this.#stopped.signal, write);
  }

  async #noteFailed(
    mail: LeasedMail,
    failure: MailFailure,
    fields: { readonly mailId: string; readonly attempts: number; readonly ms: number },
  ): Promise<void> {
    const { database, log, chance } = this.#parts;
    const when = { elapsedMs: fields.ms, chance: chance() };
    const isGivenUp = await this.#noted(() => noteFailed(database.db, mail, failure, when));
    if (isGivenUp === undefined) return;
    const { problem, status, code, isFinal } = failure;
    // What the account cannot change is for the operator to see.
    const level = isFinal || problem === "POSTPONED" ? "info" : "warn";
    log[level]({ ...fields, problem, status, code }, isGivenUp ? "mail.given_up" : "mail.not_sent");
  }

  async #sweep(): Promise<void> {
    const { database, log } = this.#parts;
    for await (const failed of sweepMail(database.db, this.#stopping.signal)) {
      for (const mail of failed) log.warn(mail, "mail.given_up");
    }
  }
}
