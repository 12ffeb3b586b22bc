import type { JsonFields } from "./json-fields.ts";

/** Where a hosted model is, and the key for it. The key itself is never in a model card. */
export interface ModelServer {
  /** A URL without user, query and fragment, since those could contain a key. */
  readonly address: string;
  /** The path of a file that has only the key. */
  readonly keyFile?: string;
  /** The variable of the environment of the service that has the key. */
  readonly keyVariable?: string;
  /** The path of a PEM file with the authorities that may have signed the server's certificate. */
  readonly authorityFile?: string;
}

/** The protocols of the addresses of each kind. */
const protocols: Readonly<Record<string, readonly string[]>> = {
  "google-speech": ["http:", "https:"],
  "riva-speech": ["http:", "https:"],
  "openai-transcriptions": ["http:", "https:"],
  "vosk-server": ["ws:", "wss:"],
};
const rootedPath = /^\/\P{Cc}+$/u;
/** With other names, a model card could send any secret of the service to its server. */
export const modelKeyName = /^MODEL_KEY_[A-Z0-9_]{1,80}$/;

/** Reads the member `server` of a card, which hosted models have, and no others. */
export function readModelServer(
  fields: JsonFields,
  engine: string,
  kind: string,
): { readonly server?: ModelServer } {
  if (engine !== "hosted") {
    if (fields.has("server")) fields.reject("server", `needs the engine hosted, not ${engine}`);
    return {};
  }
  if (fields.has("files") && fields.object("files").names.length > 0) {
    fields.reject("files", "must be absent: a hosted model has no files");
  }
  const server = fields.object("server");
  const address = server.text("address");
  const problem = problemOf(address, protocols[kind] ?? []);
  if (problem !== undefined) server.reject("address", problem);
  if (server.has("keyFile") && server.has("keyVariable")) {
    server.reject("keyVariable", "must be absent if there is a keyFile");
  }
  return {
    server: {
      address,
      ...(server.has("keyFile") && { keyFile: server.text("keyFile", rootedPath) }),
      ...(server.has("keyVariable") && { keyVariable: server.text("keyVariable", modelKeyName) }),
      ...(server.has("authorityFile") && {
        authorityFile: server.text("authorityFile", rootedPath),
      }),
    },
  };
}

function problemOf(address: string, schemes: readonly string[]): string | undefined {
  const url = URL.parse(address);
  if (!url || !schemes.includes(url.protocol)) {
    return `must be a URL with ${schemes.map((each) => `${each}//`).join(" or ")}`;
  }
  const isBare = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isBare ? undefined : "must have no user, password, query or fragment";
}
