// Makes the files of a folder the same wherever they were checked out, so that archives of them
// have the same bytes.
import { chmodSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";

/**
 * Lets everyone read the files and folders in a folder, and gives them a time, in seconds since
 * 1970. A checkout has the modes of the user's umask and the time at which it was made.
 */
export function settleFiles(folder: string, seconds: number): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    chmodSync(path, entry.isDirectory() ? 0o755 : 0o644);
    utimesSync(path, seconds, seconds);
  }
}
