import type { Kysely } from "kysely";
import { resolve } from "node:path";
import { createAuthenticator } from "./auth/authenticate.ts";
import { consoleSettings } from "./auth/console-settings.ts";
import { accountsOf } from "./auth/member-accounts.ts";
import type { Meter } from "./auth/meter.ts";
import { meteredAuthenticator } from "./auth/metered-authenticator.ts";
import { createOpenId } from "./auth/open-id.ts";
import { createRefusedAttempts, type RefusedAttempts } from "./auth/refused-attempts.ts";
import type { Session } from "./auth/session-store.ts";
import { createSessions } from "./auth/sessions.ts";
import { createSignIn } from "./auth/sign-in.ts";
import type { Config } from "./config.ts";
import { signingKey } from "./database/signing-key.ts";
import type { Tables } from "./database/tables.ts";
import { createLinkRequests } from "./mail/link-requests.ts";
import type { MediaStore } from "./media/media-store.ts";
import { mediaOriginsOf } from "./open-storage.ts";
import type { Log } from "./std/log.ts";

/** The output folder of script/build-console.ts. */
const consoleFolder = resolve(import.meta.dirname, "../dist/console");

/** Creates the authentication of callers, and the counters that slow brute force. */
export function createCallers(
  { callers }: Config,
  parts: {
    readonly db: Kysely<Tables>;
    readonly publicUrl: () => string;
    readonly meter: Meter;
    readonly log: Log;
  },
) {
  const { meter, ...others } = parts;
  const attempts = createRefusedAttempts(() => callers.refusedPerMinute);
  const unmetered = createAuthenticator({ ...others, attempts });
  return { attempts, authenticator: meteredAuthenticator(unmetered, meter) };
}

/** Creates the parts of the console: sessions, the sign-in methods and the built pages. */
export async function openConsole(
  config: Config,
  parts: {
    readonly db: Kysely<Tables>;
    readonly store: MediaStore;
    readonly attempts: RefusedAttempts;
    readonly publicUrl: () => string;
    readonly log: Log;
  },
) {
  const { db, store, attempts, publicUrl, log } = parts;
  const sessions = createSessions({ db, attempts, log });
  // With a provider, a mailbox must not be enough to sign in.
  const sendsLinks = config.mail.isSent && config.openId === undefined;
  return {
    sessions,
    signIn: createSignIn({ db, sessions, attempts, log }),
    accountsOf: (session: Session) => accountsOf(db, session),
    settings: consoleSettings(db),
    requestLink: sendsLinks
      ? createLinkRequests({ db, key: await signingKey(db, "link-request") })
      : undefined,
    openId: config.openId && createOpenId(config.openId),
    attempts,
    publicUrl,
    folder: consoleFolder,
    mediaOrigins: await mediaOriginsOf(store),
    log,
  };
}
