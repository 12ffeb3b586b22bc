import { join } from "node:path";
import type { Log } from "../std/log.ts";
import { openDiskStore } from "./disk-store.ts";
import type { MediaStore } from "./media-store.ts";
import type { S3Settings } from "./s3-bucket.ts";

/** The settings of the media store. */
export interface MediaStoreSettings {
  readonly dataFolder: string;
  /** undefined if media is stored in dataFolder. */
  readonly s3: S3Settings | undefined;
}

/** Opens the media store named in the settings: an S3 bucket or a folder. */
export async function openMediaStore(
  settings: MediaStoreSettings,
  parts: {
    readonly log: Log;
    /** Whether unfinished uploads are removed while the store is open. Default: yes. */
    readonly sweeps?: boolean;
  },
): Promise<MediaStore & AsyncDisposable> {
  const { dataFolder, s3 } = settings;
  if (!s3) return await openDiskStore(join(dataFolder, "media"), parts);
  // The SDK is loaded only if S3 is used.
  const { openS3Store } = await import("./s3-store.ts");
  return await openS3Store(s3, parts);
}
