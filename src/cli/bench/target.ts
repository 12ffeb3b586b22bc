import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "../../config.ts";
import { UsageError } from "../command.ts";
import type { Arguments, OptionTable } from "../options.ts";
import { listenerOf, ownPostgresOf } from "./process-tree.ts";

/** The measured server. */
export interface Target {
  /** The URL of the server: http: or https:, without a slash at the end. */
  readonly url: string;
  readonly token: string | undefined;
  readonly tokenIn: TokenPlace;
  /** The processes of the server, whose descendants count too; empty if they are unknown. */
  readonly pids: readonly number[];
}

const tokenPlaces = ["protocol", "query", "header"] as const;
export type TokenPlace = (typeof tokenPlaces)[number];

export const targetOptions = {
  url: {
    hint: "URL",
    meaning: "the server: http(s)://host:port or ws(s)://host:port; default: the local service",
  },
  token: {
    hint: "TOKEN",
    meaning: "API key or JWT; default: HLUST_TOKEN, or <data>/api-key of a local server",
  },
  "token-in": {
    hint: "PLACE",
    meaning: "how a WebSocket sends the token: protocol, query (?token=) or header",
    fallback: "protocol",
  },
  pid: {
    hint: "PID",
    meaning:
      "process of the server, for its CPU and memory; default: the process that listens there, if local",
  },
  data: {
    hint: "FOLDER",
    meaning: "data folder of a local server, for its key; default: HLUST_DATA",
  },
  json: { meaning: "print the report as JSON" },
  help: { meaning: "show this" },
} as const satisfies OptionTable;

/** Reads the server's address, token and processes. Throws UsageError. */
export async function readTarget(
  args: Arguments<typeof targetOptions>,
  environment: NodeJS.ProcessEnv,
): Promise<Target> {
  const config = readConfig(environment);
  const url = readUrl(args.text("url") ?? `http://127.0.0.1:${config.port}`);
  const dataFolder = args.text("data") ?? config.dataFolder;
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  const given = args.text("token") ?? environment["HLUST_TOKEN"];
  const token = given ?? (isLocal ? await keyOf(dataFolder) : undefined);
  const tokenIn = args.oneOf("token-in", tokenPlaces);
  const pids = await pidsOf(args, isLocal ? url : undefined);
  return { url: url.href.replace(/\/+$/, ""), token, tokenIn, pids };
}

function readUrl(text: string): URL {
  const url = URL.parse(text.replace(/^ws(s?):/i, "http$1:"));
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return url;
  throw new UsageError(`--url must be http(s)://host:port, not ${JSON.stringify(text)}`);
}

async function keyOf(dataFolder: string): Promise<string | undefined> {
  const text = await readFile(join(dataFolder, "api-key"), "utf8").catch(() => "");
  return text.trim() || undefined;
}

async function pidsOf(
  args: Arguments<typeof targetOptions>,
  local: URL | undefined,
): Promise<readonly number[]> {
  const isGiven = args.text("pid") !== undefined;
  const port = Number(local?.port || (local?.protocol === "https:" ? 443 : 80));
  const server = isGiven
    ? args.number("pid", { min: 1, max: 0x7fff_ffff, whole: true })
    : local && (await listenerOf(port));
  if (server === undefined) return [];
  const postgres = await ownPostgresOf(server);
  return postgres === undefined ? [server] : [server, postgres];
}
