import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import type { ServerUse } from "../../src/cli/bench/server-watch.ts";
import type { StreamLoad } from "../../src/cli/bench/stream-load.ts";
import type { MeasuredServer } from "./servers.ts";

export type Report = StreamLoad & { readonly server?: ServerUse };

const hlust = join(import.meta.dirname, "../../bin/hlust");

/** Runs `hlust bench stream` against a server, in a separate process. */
export async function load(
  { url, token }: Pick<MeasuredServer, "url" | "token">,
  options: Readonly<Record<string, number>>,
): Promise<Report> {
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const tool = spawn(hlust, ["bench", "stream", "--json", "--url", url, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], HLUST_TOKEN: token },
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the tool prints
  return JSON.parse(await text(tool.stdout)) as Report;
}
