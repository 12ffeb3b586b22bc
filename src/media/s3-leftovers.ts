import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
} from "@aws-sdk/client-s3";
import type { UnfinishedPut } from "./media-store.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/**
 * A put that has received no new part for this long belongs to a process that has ended. A sweep
 * then removes the put within the hour.
 */
const idleMsMax = 2_400_000;

/**
 * Removes the given puts if they are of killed processes. Resolves to the number of removed puts.
 */
export async function removeUnfinished(
  puts: AsyncIterable<UnfinishedPut>,
  now: number,
): Promise<number> {
  let count = 0;
  for await (const put of puts) {
    if (put.since.getTime() > now - idleMsMax) continue;
    await put.remove();
    count += 1;
  }
  return count;
}

/**
 * Lists unfinished puts below a folder, both abandoned and running. Each put is named by the last
 * part of its key.
 */
export async function* listUnfinished(s3: S3Bucket, folder: string): AsyncGenerator<UnfinishedPut> {
  const query = { Bucket: s3.name, Prefix: folder };
  let next: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const command = new ListMultipartUploadsCommand({ ...query, ...next });
    const page = await s3.answer(s3.client.send(command), "sweep");
    for (const { Key = "", UploadId, Initiated } of page.Uploads ?? []) {
      if (!Initiated) throw new Error("S3 returned no start time of an upload");
      const target = { Bucket: s3.name, Key, UploadId };
      yield {
        name: Key.slice(folder.length),
        since: await lastPartAt(s3, target, Initiated),
        async remove() {
          await s3.find(s3.client.send(new AbortMultipartUploadCommand(target)), "sweep");
        },
      };
    }
    if (page.IsTruncated !== true) return;
    next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}

/**
 * Returns the time at which the last part of a put arrived. All parts of a put fit in one list.
 */
async function lastPartAt(
  s3: S3Bucket,
  target: ConstructorParameters<typeof ListPartsCommand>[0],
  begunAt: Date,
): Promise<Date> {
  const found = await s3.find(s3.client.send(new ListPartsCommand(target)), "sweep");
  const times = (found?.Parts ?? []).map(({ LastModified = begunAt }) => LastModified.getTime());
  return new Date(Math.max(begunAt.getTime(), ...times));
}
