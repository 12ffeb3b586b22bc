import { join } from "node:path";
import type { Log } from "../std/log.ts";
import { openDiskStore } from "./disk-store.ts";
import type { MediaStore } from "./media-store.ts";
import type { S3Settings } from "./s3-bucket.ts";

/** What of the settings says where media is. */
export interface MediaStoreSettings {
  readonly dataFolder: string;
  /** undefined: media is kept in dataFolder. */
  readonly s3: S3Settings | undefined;
}

/** Opens the media store that the settings name: a bucket of S3, or else a folder. */
export async function openMediaStore(
  settings: MediaStoreSettings,
  parts: {
    readonly log: Log;
    /** Whether what broken uploads left is cleared away while it is open. Default: yes. */
    readonly sweeps?: boolean;
  },
): Promise<MediaStore & AsyncDisposable> {
  const { dataFolder, s3 } = settings;
  if (!s3) return await openDiskStore(join(dataFolder, "media"), parts);
  // Whoever keeps media in a folder does not wait for the SDK to load.
  const { openS3Store } = await import("./s3-store.ts");
  return await openS3Store(s3, parts);
}
