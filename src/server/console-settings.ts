import type { ConsoleSettings } from "../auth/console-settings.ts";
import { signedOut, type Sessions } from "../auth/sessions.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { invalidArgument, shown } from "../std/service-error.ts";
import { refuseStalePage } from "./console-page.ts";
import { currentSession, readFields } from "./console-session.ts";
import { answerJson, type HttpHandler, type HttpRequest, type HttpResponse } from "./http.ts";

/** The maximum length of the settings as JSON, in bytes. */
const settingsBytesMax = 16_384;
/** The maximum length of a body: the settings, which may have been sent with spaces. */
const bodyBytesMax = 2 * settingsBytesMax;

export interface ConsoleSettingsParts {
  readonly sessions: Sessions;
  readonly settings: ConsoleSettings;
}

/**
 * Creates the handlers of /console/settings: what the current user has chosen in the console, for
 * example shortcut keys, so that it is the same in each browser.
 */
export function createConsoleSettings(
  { sessions, settings }: ConsoleSettingsParts,
  held: HeldBytes,
): { readonly show: HttpHandler; readonly save: HttpHandler } {
  async function signedIn(request: HttpRequest, response: HttpResponse) {
    const session = await currentSession(sessions, request, response);
    if (!session) throw signedOut();
    refuseStalePage(request, session);
    return session;
  }

  return {
    async show(request, response) {
      const session = await signedIn(request, response);
      answerJson(response, 200, `{"settings":${await settings.read(session)}}`);
    },

    async save(request, response) {
      const session = await signedIn(request, response);
      const share = { of: session.accountId, bytesMax: bodyBytesMax };
      const chosen = checkSettings(await readFields(request, held, share));
      await settings.save(session, chosen);
      answerJson(response, 200, `{"settings":${chosen}}`);
    },
  };
}

/** Returns the JSON of the field `settings`, which is the only field. */
function checkSettings(fields: ReadonlyMap<string, unknown>): string {
  for (const field of fields.keys()) {
    if (field !== "settings") throw refused(field, "is not a field: send only settings");
  }
  const settings = fields.get("settings");
  if (typeof settings !== "object" || settings === null || Array.isArray(settings)) {
    const found = settings === undefined ? "absent" : shown(JSON.stringify(settings));
    throw refused("settings", `must be a JSON object, not ${found}`);
  }
  const json = JSON.stringify(settings);
  const bytes = Buffer.byteLength(json);
  if (bytes > settingsBytesMax) {
    throw refused(
      "settings",
      `has ${bytes} bytes as JSON; at most ${settingsBytesMax} are allowed`,
    );
  }
  // JSON.stringify() escapes NUL, which PostgreSQL does not store, and lone surrogates.
  return json;
}

function refused(field: string, description: string) {
  return invalidArgument([{ field, description }]);
}
