import { setTimeout as sleep } from "node:timers/promises";
import { HeadBucketCommand } from "@aws-sdk/client-s3";
import type { Log } from "../std/log.ts";
import { failureFields, statusOf, type S3Bucket, type S3Settings } from "./s3-bucket.ts";

const againAfterMs = 500;

/**
 * Resolves when the bucket responds: S3 may start at the same time as the service. Invalid settings
 * are reported immediately.
 */
export async function waitForBucket(
  s3: S3Bucket,
  settings: S3Settings,
  { log, unavailableMsMax = 30_000 }: { readonly log: Log; readonly unavailableMsMax?: number },
): Promise<void> {
  const giveUpAt = Date.now() + unavailableMsMax;
  for (;;) {
    try {
      await s3.client.send(new HeadBucketCommand({ Bucket: s3.name }));
      return;
    } catch (error) {
      const problem = problemOf(error, settings);
      if (problem !== undefined) throw new Error(problem, { cause: error });
      const at = settings.endpoint ?? "Amazon";
      if (Date.now() >= giveUpAt) {
        const { error: why } = failureFields(error);
        throw new Error(`S3 at ${at} (S3_ENDPOINT) does not answer: ${why}`, { cause: error });
      }
      log.info(failureFields(error), "media.waiting");
      await sleep(againAfterMs);
    }
  }
}

/**
 * Describes a problem that waiting cannot solve. The response to a HEAD has no message, so only the
 * status is available.
 */
function problemOf(error: unknown, settings: S3Settings): string | undefined {
  const { bucket, region } = settings;
  const status = statusOf(error);
  if (status === 404)
    return `S3 has no bucket ${JSON.stringify(bucket)} (S3_BUCKET): create it first`;
  if (status === 403 || status === 401) {
    return `S3 refuses the key for the bucket ${JSON.stringify(bucket)}: check S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and the permissions of the key`;
  }
  if (status === 301 || status === 400) {
    return `S3 does not accept the bucket ${JSON.stringify(bucket)} in the region ${region}: check S3_BUCKET and S3_REGION`;
  }
  if (error instanceof Error && error.name === "CredentialsProviderError") {
    return "S3 needs a key: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY";
  }
  return undefined;
}
