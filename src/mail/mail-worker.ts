import { addAbortListener } from "node:events";
import { dropSignInToken, signInLink } from "../auth/sign-in-token.ts";
import type { Database } from "../database/database.ts";
import { QueueWorker } from "../database/queue-worker.ts";
import { retryWhileDatabaseDown } from "../database/retry-while-down.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { MailFailure } from "./explain-failure.ts";
import { invitationLetter } from "./invitation-letter.ts";
import type { MailOptions } from "./mail-options.ts";
import { answerLinkRequests } from "./answer-link-requests.ts";
import {
  beginAttempt,
  leaseMail,
  noteFailed,
  noteSent,
  releaseMail,
  sweepMail,
  type LeasedMail,
} from "./mail-queue.ts";
import { sendMail, type Letter } from "./send-mail.ts";

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
  /**
   * For tests: how long a worker that stops tries to write down what has become of its mail, after
   * it has waited for the server. Default: 2 s.
   */
  readonly noteMsMax?: number;
}

/** The maximum number of mails that a node sends concurrently. */
const sendingMax = 4;
const pollMs = 1_000;
/** How long a worker that stops waits for the server. */
const stopMsMax = 3_000;
const defaults = { chance: Math.random, timeoutMs: 60_000, sweepMs: 30_000, noteMsMax: 2_000 };

/**
 * Sends the mail of accounts until the worker is disposed of, which releases mail whose body was
 * not on its way.
 */
export function openMailWorker(given: MailWorkerParts): AsyncDisposable {
  const parts: Parts = { ...defaults, ...given };
  const { database, log } = parts;
  const { db } = database;
  const leaseMs = leaseMsOf(parts);
  const sending = new Set<string>();
  return new QueueWorker<LeasedMail>({
    runningMax: sendingMax,
    pollMs,
    stopMsMax,
    lease: async (room) => await leaseMail(db, { leaseMs, room, sending }),
    leaseFailed: "mail.lease_failed",
    async work(mail, stopped) {
      sending.add(mail.id);
      try {
        await send(parts, mail, stopped);
      } finally {
        sending.delete(mail.id);
      }
    },
    onLost: (mail, error) => log.error({ mailId: mail.id, ...errorFields(error) }, "mail.lost"),
    steps: [
      {
        everyMs: pollMs,
        event: "mail.requests_failed",
        act: async (signal) => await answerLinkRequests({ db, log }, signal),
      },
      {
        everyMs: parts.sweepMs,
        event: "mail.sweep_failed",
        async act(signal) {
          for await (const failed of sweepMail(db, signal)) {
            for (const mail of failed) log.warn(mail, "mail.given_up");
          }
        },
      },
    ],
    log,
  });
}

type Parts = Required<MailWorkerParts>;

/** Returns the time of a lease: an attempt, and time to write down what has become of it. */
function leaseMsOf({ timeoutMs }: Parts): number {
  return timeoutMs * 2;
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

/** Makes one attempt to send a mail, and writes down what has become of it. */
async function send(parts: Parts, mail: LeasedMail, stopped: AbortSignal): Promise<void> {
  const { database, options, hasProvider, log, timeoutMs, noteMsMax } = parts;
  const { db } = database;
  const noting = new AbortController();
  using _stopped = addAbortListener(stopped, () => {
    setTimeout(() => noting.abort(stopped.reason), noteMsMax).unref();
  });
  const noted = async <T>(write: () => Promise<T>): Promise<T> =>
    await writeDown(noting.signal, write);
  const startedAt = performance.now();
  const needs = { needsToken: !hasProvider, leaseMs: leaseMsOf(parts) };
  const begun = await noted(() => beginAttempt(db, mail, needs));
  if (!begun) return;
  const { token } = begun;
  const letter = letterOf(mail, options.publicUrl, token);
  const failure = await sendMail(options, letter, { timeoutMs, signal: stopped }).catch(
    (error: unknown) => {
      if (stopped.aborted) return "released" as const;
      log.error({ mailId: mail.id, ...errorFields(error) }, "mail.send_failed");
      return internalFailure;
    },
  );
  const elapsedMs = Math.round(performance.now() - startedAt);
  const fields = { mailId: mail.id, attempts: mail.attempts, ms: elapsedMs };
  if (failure === "released") {
    await noted(() => releaseMail(db, mail));
    log.info(fields, "mail.released");
  } else if (failure) {
    const when = { elapsedMs, chance: parts.chance() };
    const isGivenUp = await noted(() => noteFailed(db, mail, failure, when));
    if (isGivenUp !== undefined) logFailure(log, failure, { fields, isGivenUp });
  } else if (await noted(() => noteSent(db, mail))) log.info(fields, "mail.sent");
  // A token that was in no mail is of no use, and does no harm.
  const wasNotSent = failure === "released" || (failure && !failure.isUnknown);
  if (wasNotSent && token !== undefined) await noted(() => dropSignInToken(db, token));
}

/**
 * Writes down what has become of an attempt, also after a short outage of the database. Otherwise a
 * mail that has arrived would be sent again. Throws the error of the database once the signal
 * aborts.
 */
async function writeDown<T>(signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  let failure: unknown;
  const kept = async () =>
    await write().catch((error: unknown) => {
      failure = error;
      throw error;
    });
  return await retryWhileDatabaseDown(signal, kept).catch((error: unknown) => {
    throw signal.aborted ? failure : error;
  });
}

/** Returns the letter of a mail, with a link that signs in if there is a token. */
function letterOf(mail: LeasedMail, publicUrl: string, token: string | undefined): Letter {
  const link = token === undefined ? `${publicUrl}/console/` : signInLink(publicUrl, token);
  return invitationLetter({ ...mail, link, signsIn: token !== undefined });
}

function logFailure(
  log: Log,
  { problem, status, code, isFinal }: MailFailure,
  { fields, isGivenUp }: { readonly fields: object; readonly isGivenUp: boolean },
): void {
  // What the account cannot change is for the operator to see.
  const level = isFinal || problem === "POSTPONED" ? "info" : "warn";
  log[level]({ ...fields, problem, status, code }, isGivenUp ? "mail.given_up" : "mail.not_sent");
}
