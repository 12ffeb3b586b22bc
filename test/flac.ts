import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The same samples as a FLAC file: what is no plain WAV goes through the sandbox, and needs a file of the worker's own. */
export function flacOf(wav: Buffer): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "hlust-flac-"));
  try {
    writeFileSync(join(folder, "a.wav"), wav);
    const files = ["-i", join(folder, "a.wav"), join(folder, "a.flac")];
    execFileSync("ffmpeg", ["-nostdin", "-loglevel", "error", ...files]);
    return readFileSync(join(folder, "a.flac"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
