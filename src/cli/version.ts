import { readFile } from "node:fs/promises";
import { refuseArguments, type Command } from "./command.ts";

export const version: Command = {
  summary: "show the version",
  async run(args) {
    refuseArguments(args);
    process.stdout.write(`hlust ${await packageVersion()}, Node ${process.versions.node}\n`);
    return undefined;
  },
};

/** Returns the version in package.json. */
export async function packageVersion(): Promise<string> {
  const file = new URL("../../package.json", import.meta.url);
  const manifest: unknown = JSON.parse(await readFile(file, "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
}
