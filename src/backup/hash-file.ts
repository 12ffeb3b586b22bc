import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const chunkBytes = 1 << 20;

/** Reads a file, and returns its size and its SHA-256 in hexadecimal. */
export async function hashFile(
  file: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  await using handle = await open(file, "r");
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length);
    if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
    hash.update(chunk.subarray(0, bytesRead));
    bytes += bytesRead;
    onBytes(bytesRead);
  }
}
