import { HeadBucketCommand } from "@aws-sdk/client-s3";
import { isId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import type { MediaStore, PartialMedia, UnfinishedPut } from "./media-store.ts";
import { S3Bucket, type S3Settings } from "./s3-bucket.ts";
import { openDirectTransfers } from "./s3-direct.ts";
import { listUnfinished, removeUnfinished } from "./s3-leftovers.ts";
import { deleteObject, describeObject, listObjects, readObject } from "./s3-objects.ts";
import { openS3Notes } from "./s3-notes.ts";
import { openS3Partial } from "./s3-partial.ts";
import { putObject } from "./s3-put.ts";
import { openS3Removed } from "./s3-removed.ts";
import { waitForBucket } from "./wait-for-bucket.ts";

export type { S3Settings } from "./s3-bucket.ts";

const sweepEveryMs = 600_000;
const stopMsMax = 2_000;

export interface S3StoreParts {
  readonly log: Log;
  readonly now?: () => number;
  /** How long S3 may be unavailable at startup. Default: 30 s. */
  readonly unavailableMsMax?: number;
  /** For tests: the number of keys per list response. Default: as many as S3 returns. */
  readonly pageKeysMax?: number;
  /** Whether unfinished puts are removed. Default: yes. */
  readonly sweeps?: boolean;
}

/**
 * Opens the media store in an existing bucket. A recording becomes an object in one step or not at
 * all. Parts of unfinished recordings are removed within the hour. Rejects with a sentence for the
 * operator if the bucket is unusable.
 */
export async function openS3Store(
  settings: S3Settings,
  parts: S3StoreParts,
): Promise<MediaStore & AsyncDisposable> {
  const { log, now = Date.now, pageKeysMax, sweeps = true } = parts;
  await using opened = new AsyncDisposableStack();
  const s3 = opened.use(new S3Bucket(settings, { log }));
  await waitForBucket(s3, settings, parts);
  const folder = `${settings.prefix}media/`;
  const keyOf = (id: string): string => {
    if (!isId(id)) throw new Error("a media id is a UUID");
    return folder + id;
  };
  const { prefix } = settings;
  const partial = openS3Partial(s3, { prefix, keyOf, pageKeysMax });
  const unfinished = () => withoutPartial(listUnfinished(s3, folder), partial);
  const sweep = async () => {
    const count = await removeUnfinished(unfinished(), now());
    if (count > 0) log.info({ count }, "media.unfinished_removed");
  };
  const removed = openS3Removed(s3, { prefix, keyOf, pageKeysMax });
  const sweeping = { everyMs: sweepEveryMs, log, event: "media.sweep_failed", stopMsMax };
  if (sweeps) opened.use(openRepeat(sweeping, sweep));
  const store = {
    ...keepObjects(s3, { folder, keyOf, pageKeysMax }),
    unfinished,
    partial,
    removed,
    notes: openS3Notes(s3, prefix),
  };
  const direct = settings.presigns
    ? opened.use(openDirectTransfers(s3, { store, settings, keyOf, pageKeysMax, removed }))
    : undefined;
  const open = opened.move();
  return { ...store, direct, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

function keepObjects(
  s3: S3Bucket,
  options: {
    readonly folder: string;
    readonly keyOf: (id: string) => string;
    readonly pageKeysMax: number | undefined;
  },
): Omit<MediaStore, "partial" | "removed" | "notes" | "unfinished"> {
  const { folder, keyOf, pageKeysMax } = options;
  return {
    async put(id, bytes, options) {
      return await putObject(s3, keyOf(id), bytes, options);
    },
    async open(id, range) {
      return (await readObject(s3, keyOf(id), range)).bytes;
    },
    async sizeBytes(id) {
      return (await describeObject(s3, keyOf(id)))?.sizeBytes;
    },
    async delete(id) {
      await deleteObject(s3, keyOf(id));
    },
    async *list() {
      for await (const { name, putAt } of listObjects(s3, folder, pageKeysMax)) {
        if (isId(name)) yield { id: name, putAt };
      }
    },
    async ping() {
      await s3.answer(s3.client.send(new HeadBucketCommand({ Bucket: s3.name })), "ping");
    },
  };
}

/** Leaves out the parts of partial media, which may stay as they are for a day. */
async function* withoutPartial(
  puts: AsyncIterable<UnfinishedPut>,
  partial: PartialMedia,
): AsyncGenerator<UnfinishedPut> {
  let known: ReadonlySet<string> | undefined;
  for await (const put of puts) {
    known ??= new Set(await Array.fromAsync(partial.list(), ({ id }) => id));
    if (!known.has(put.name)) yield put;
  }
}
