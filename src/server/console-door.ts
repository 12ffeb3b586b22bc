import { signedOut, type Sessions } from "../auth/sessions.ts";
import type { Session } from "../auth/session-store.ts";
import type { MemberAccount } from "../auth/member-accounts.ts";
import type { OpenId } from "../auth/open-id.ts";
import type { RefusedAttempts } from "../auth/refused-attempts.ts";
import type { SignIn } from "../auth/sign-in.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { refuseOtherPages, refuseStalePage } from "./console-page.ts";
import { createConsoleSession, currentSession } from "./console-session.ts";
import { createConsoleSignIn } from "./console-sign-in.ts";
import { targetOf, type HttpHandler, type HttpRequest, type HttpResponse } from "./http.ts";
import type { RestDoor } from "./rest.ts";

/** What the doors of the console need of the rest of the service. */
export interface ConsoleParts {
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  /** The accounts that somebody may be in, the one they are in first. */
  readonly accountsOf: (session: Session) => Promise<readonly MemberAccount[]>;
  /** undefined: API keys and links are the only ways in. */
  readonly openId: OpenId | undefined;
  /** Slows who comes back from the provider with what it never gave. */
  readonly attempts: RefusedAttempts;
  /** Where browsers find the service, without a slash at the end. */
  readonly publicUrl: () => string;
  /** Where the built pages are. */
  readonly folder: string;
  /** Origins that media and uploads go to besides the service's own: a bucket's. */
  readonly mediaOrigins: readonly string[];
  readonly log: Log;
}

const apiPrefix = "/console/api";
const signInPath = "/console/sign-in";

/**
 * The doors of the console: /console/session (who is signed in; in and out), /console/sign-in (to
 * the provider and back) and /console/api/, where the methods of the contract are called with the
 * session in place of a token. Nowhere else is a cookie looked at.
 */
export function createConsoleDoor(
  parts: ConsoleParts,
  rest: RestDoor,
  held: HeldBytes,
): {
  handles(target: string): boolean;
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
} {
  const session = createConsoleSession(parts, held);
  const signIn = createConsoleSignIn(parts);
  const pages: Readonly<Record<string, Readonly<Record<string, HttpHandler>>>> = {
    "/console/session": { GET: session.tell, POST: session.open, DELETE: session.end },
    "/console/session:switch": { POST: session.change },
    ...(signIn && {
      [signInPath]: { GET: signIn.begin },
      [`${signInPath}/callback`]: { GET: signIn.finish },
    }),
  };
  return {
    handles: (target) => target.startsWith(`${apiPrefix}/`) || Object.hasOwn(pages, pathOf(target)),
    async handle(request, response) {
      const target = targetOf(request);
      const path = pathOf(target);
      // To the provider and back are pages that the browser goes to, from wherever it is.
      if (!path.startsWith(signInPath)) refuseOtherPages(request, parts.publicUrl());
      if (path.startsWith(`${apiPrefix}/`)) {
        const session = await currentSession(parts.sessions, request, response);
        if (!session) throw signedOut();
        refuseStalePage(request, session);
        await rest(request, response, { target: target.slice(apiPrefix.length), session });
        return;
      }
      const methods = pages[path] ?? {};
      const method = request.method ?? "";
      const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!handler) throw notAllowed(path, method, Object.keys(methods));
      await handler(request, response);
    },
  };
}

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}

function notAllowed(path: string, method: string, allowed: readonly string[]): ServiceError {
  const allow = allowed.join(", ");
  return new ServiceError(
    "unimplemented",
    `${path} does not take ${shown(method)}, only ${allow}`,
    { reason: "METHOD_NOT_ALLOWED", httpStatus: 405, metadata: { allow } },
  );
}
