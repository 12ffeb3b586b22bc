import { signedOut } from "../auth/sessions.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { createConsoleLink, type ConsoleLinkParts } from "./console-link.ts";
import { refuseOtherPages, refuseStalePage } from "./console-page.ts";
import {
  createConsoleSession,
  currentSession,
  type ConsoleSessionParts,
} from "./console-session.ts";
import { createConsoleSettings, type ConsoleSettingsParts } from "./console-settings.ts";
import { createConsoleSignIn, type ConsoleSignInParts } from "./console-sign-in.ts";
import { targetOf, type HttpDoor, type HttpHandler } from "./http.ts";
import type { RestDoor } from "./rest.ts";
import type { TusDoor } from "./tus-door.ts";

/** The parts of the service used by the console's handlers. */
export type ConsoleParts = ConsoleSessionParts &
  ConsoleSettingsParts &
  ConsoleSignInParts &
  ConsoleLinkParts;

const apiPrefix = "/console/api";
const signInPath = "/console/sign-in";

/**
 * Creates the door of the console's pages: /console/session (the current user, sign-in and
 * sign-out, links by mail), /console/settings (what the user has chosen), /console/sign-in (to the
 * OpenID provider and back) and /console/api/. Under /console/api/, the methods of the contract and
 * resumable uploads are called with the session's cookie instead of a token. No other door reads
 * cookies.
 */
export function createConsoleDoor(
  parts: ConsoleParts,
  { rest, tus }: { readonly rest: RestDoor; readonly tus?: TusDoor | undefined },
  held: HeldBytes,
): HttpDoor {
  const session = createConsoleSession(parts, held);
  const settings = createConsoleSettings(parts, held);
  const signIn = createConsoleSignIn(parts);
  const link = createConsoleLink(parts, held);
  const pages: Readonly<Record<string, Readonly<Record<string, HttpHandler>>>> = {
    "/console/session": { GET: session.show, POST: session.open, DELETE: session.end },
    "/console/session:switch": { POST: session.change },
    ...(link && { "/console/session:requestLink": { POST: link } }),
    "/console/settings": { GET: settings.show, PUT: settings.save },
    ...(signIn && {
      [signInPath]: { GET: signIn.begin },
      [`${signInPath}/callback`]: { GET: signIn.finish },
    }),
  };
  return {
    handles: (request) => {
      const target = targetOf(request);
      return target.startsWith(`${apiPrefix}/`) || Object.hasOwn(pages, pathOf(target));
    },
    async handle(request, response) {
      const target = targetOf(request);
      const path = pathOf(target);
      // The browser is sent to the provider and back, so those requests come from other pages.
      if (!path.startsWith(signInPath)) refuseOtherPages(request, parts.publicUrl());
      if (path.startsWith(`${apiPrefix}/`)) {
        const session = await currentSession(parts.sessions, request, response);
        if (!session) throw signedOut();
        refuseStalePage(request, session);
        const call = { target: target.slice(apiPrefix.length), session };
        const door = tus?.handlesTarget(call.target) ? tus.handle : rest;
        await door(request, response, call);
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
    `${path} does not accept ${shown(method)}, only ${allow}`,
    { reason: "METHOD_NOT_ALLOWED", httpStatus: 405, metadata: { allow } },
  );
}
