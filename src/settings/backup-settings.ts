import type { S3Settings } from "../media/s3-bucket.ts";
import { httpUrl, ifSet, type ReadSetting, type Setting } from "../std/setting.ts";
import { s3Settings } from "./s3-settings.ts";

/** The settings of backups in a bucket. */
export const backupSettings = {
  endpoint: {
    name: "HLUST_BACKUP_S3_ENDPOINT",
    meaning: "Address of the S3-compatible store for backups in a bucket (`hlust backup s3://...`)",
    fallback: "S3_ENDPOINT, or else Amazon's",
    parse: ifSet(httpUrl),
  },
  region: {
    name: "HLUST_BACKUP_S3_REGION",
    meaning: "Region of the bucket of backups",
    fallback: "S3_REGION",
    parse: (text) => text,
  },
  keyId: {
    name: "HLUST_BACKUP_S3_ACCESS_KEY_ID",
    meaning: "Access key id for the bucket of backups",
    fallback: "S3_ACCESS_KEY_ID",
    secret: true,
    parse: (text) => text,
  },
  keySecret: {
    name: "HLUST_BACKUP_S3_SECRET_ACCESS_KEY",
    meaning: "Secret access key for the bucket of backups",
    fallback: "S3_SECRET_ACCESS_KEY",
    secret: true,
    parse: (text) => text,
  },
} satisfies Record<string, Setting<string | undefined>>;

/** How the store of backups is accessed; TARGET names the bucket and the prefix. */
export type BackupS3 = Pick<S3Settings, "endpoint" | "region" | "key">;

/** Reads the settings as a whole. Invalid settings are added to `problems`. */
export function readBackupS3(read: ReadSetting, problems: string[]): BackupS3 {
  const { endpoint, region, keyId, keySecret } = backupSettings;
  const [id, secret] = [read(keyId), read(keySecret)];
  if ((id === undefined) !== (secret === undefined)) {
    problems.push(`${keyId.name} and ${keySecret.name} must be set together`);
  }
  const [mediaId, mediaSecret] = [read(s3Settings.keyId), read(s3Settings.keySecret)];
  const own = id !== undefined && secret !== undefined ? { id, secret } : undefined;
  const ofMedia =
    mediaId !== undefined && mediaSecret !== undefined
      ? { id: mediaId, secret: mediaSecret }
      : undefined;
  return {
    endpoint: read(endpoint) ?? read(s3Settings.endpoint),
    region: read(region) ?? read(s3Settings.region),
    key: own ?? ofMedia,
  };
}
