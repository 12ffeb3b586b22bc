import { createHash } from "node:crypto";
import {
  probeMedia,
  probePlainWav,
  type MediaProbe,
  type ReadMediaOptions,
} from "../../audio/probe-media.ts";
import type { MediaStore } from "../../media/media-store.ts";
import { openMediaCopy, type MediaCopyParts } from "../../describe/media-copy.ts";

/**
 * Media that can be decoded. Disposing of the object deletes the copy of the media, if there is
 * one.
 */
export interface Recording extends AsyncDisposable {
  readonly file: string;
  readonly facts: MediaProbe;
  /** Must be called with all decoded bytes if the hash is computed from them. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
  /** The hash and the number of all decoded bytes; null if the hash is not computed from them. */
  readonly hashed: () => { readonly sha256: Buffer | null; readonly sizeBytes: number };
}

export interface RecordingParts extends MediaCopyParts {
  readonly store: Pick<MediaStore, "open" | "file">;
}

export type RecordingOptions = Omit<ReadMediaOptions, "file"> & { readonly signal: AbortSignal };

/**
 * Opens media for the decoder. A file on this machine that this process decodes itself is read in
 * place; all other media is copied for the sandbox. Throws the errors of openMediaCopy() and
 * probeMedia().
 */
export async function openRecording(
  parts: RecordingParts,
  mediaId: string,
  options: RecordingOptions,
): Promise<Recording> {
  const { signal, durationMsMax } = options;
  const stored = parts.store.file?.(mediaId);
  // If the file is missing, the copy throws the correct error.
  const facts =
    stored === undefined
      ? undefined
      : await probePlainWav(stored, durationMsMax).catch(ignoreMissing);
  if (stored !== undefined && facts) {
    const hash = createHash("sha256");
    let sizeBytes = 0;
    return {
      file: stored,
      facts,
      onBytes(bytes) {
        sizeBytes += bytes.length;
        hash.update(bytes);
      },
      hashed: () => ({ sha256: hash.digest(), sizeBytes }),
      async [Symbol.asyncDispose]() {},
    };
  }
  await using opened = new AsyncDisposableStack();
  const copy = opened.use(await openMediaCopy(parts, mediaId, signal));
  const file = copy.path;
  const probed = await probeMedia({ ...options, file });
  const held = opened.move();
  return {
    file,
    facts: probed,
    hashed: () => ({ sha256: null, sizeBytes: 0 }),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
