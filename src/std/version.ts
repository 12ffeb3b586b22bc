import { readFileSync } from "node:fs";

/** The version of the package, for example "0.1.0". */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
}
