import { createStreamToken } from "../../../auth/stream-token.ts";
import { Accounts } from "../../../gen/hlust/accounts/v1/accounts_pb.ts";
import { answerJson } from "../../../server/http.ts";
import { askForBody } from "../../../server/request-body.ts";
import { readUpload } from "../../../server/upload-body.ts";
import { newId } from "../../../std/ids.ts";
import { invalidArgument, shown } from "../../../std/service-error.ts";
import type { Dialect, DialectCall } from "../../dialect.ts";
import { openAiErrorAnswer } from "../error-answer.ts";
import { firstSettings, readSettings, type SettingsContext } from "./read-session.ts";
import { sessionOf } from "./realtime-socket.ts";

export interface SecretParts extends Omit<SettingsContext, "pathLanguage"> {
  readonly streamTokens: Parameters<typeof createStreamToken>[0];
}

const bodyBytesMax = 65_536;
const prefix = "^(?:/openai(?:/(?<language>[^/]+))?)?/v1/realtime";

/**
 * The secrets with which browsers open one socket of the Realtime API: stream tokens. The session
 * of the request is checked, but the browser has to send it again: a token carries no settings.
 */
export function createClientSecrets(parts: SecretParts): Dialect {
  return {
    protocol: "openai",
    routes: [
      {
        method: "POST",
        path: new RegExp(`${prefix}/client_secrets/?$`),
        handle: async (call) => {
          const { token, expiresAt, session } = await createSecret(parts, call, "session");
          const secret = { value: token, expires_at: expiresAt, session };
          answerJson(call.response, 200, JSON.stringify(secret));
        },
      },
      {
        method: "POST",
        path: new RegExp(`${prefix}/transcription_sessions/?$`),
        handle: async (call) => {
          const { token, expiresAt, session } = await createSecret(parts, call);
          const secret = { value: token, expires_at: expiresAt };
          answerJson(call.response, 200, JSON.stringify({ ...session, client_secret: secret }));
        },
      },
    ],
    errorAnswer: openAiErrorAnswer,
  };
}

/** Creates a token. The session is the member of this name, or the whole body. */
async function createSecret(parts: SecretParts, call: DialectCall, member?: string) {
  const caller = await call.authenticate(Accounts.method.createStreamToken);
  const body = await readObject(call);
  const session = member === undefined ? body : objectIn(Reflect.get(body, member) ?? {}, member);
  const context = { ...parts, pathLanguage: call.path["language"] ?? "" };
  const settings = readSettings(session, firstSettings(), context);
  const { token, expiresAt } = await createStreamToken(parts.streamTokens, caller);
  return {
    token,
    expiresAt: Math.floor(expiresAt.getTime() / 1000),
    session: sessionOf(`sess_${newId()}`, settings),
  };
}

/** Reads a body that is a JSON object, or empty. */
async function readObject({ request, response }: DialectCall): Promise<object> {
  askForBody(request, response);
  const bytes = await readUpload(request, {}, async (body) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body.bytes) {
      size += chunk.length;
      if (size > bodyBytesMax) {
        const description = `is larger than ${bodyBytesMax} bytes`;
        throw invalidArgument([{ field: "body", description }]);
      }
      // The chunk may share its memory with others.
      chunks.push(Uint8Array.from(chunk));
    }
    return Buffer.concat(chunks);
  });
  const text = (bytes ?? Buffer.alloc(0)).toString();
  if (text.trim() === "") return {};
  try {
    return objectIn(JSON.parse(text), "body");
  } catch {
    throw invalidArgument([{ field: "body", description: "must be a JSON object" }]);
  }
}

/** Returns the value of a field. Throws invalid_argument if it is not an object. */
function objectIn(value: unknown, field: string): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalidArgument([{ field, description: `must be a JSON object, not ${shown(value)}` }]);
}
