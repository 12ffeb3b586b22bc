import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../config.ts";

const media = {
  S3_BUCKET: "media",
  S3_ENDPOINT: "http://minio:9000",
  S3_REGION: "eu-north-1",
  S3_ACCESS_KEY_ID: "id",
  S3_SECRET_ACCESS_KEY: "secret",
};
const own = {
  HLUST_BACKUP_S3_ENDPOINT: "http://backups:9000",
  HLUST_BACKUP_S3_REGION: "eu-west-1",
  HLUST_BACKUP_S3_ACCESS_KEY_ID: "backup-id",
  HLUST_BACKUP_S3_SECRET_ACCESS_KEY: "backup-secret",
};
const ownRead = {
  endpoint: "http://backups:9000",
  region: "eu-west-1",
  key: { id: "backup-id", secret: "backup-secret" },
};

test("a bucket of backups is accessed by its own settings, or else by those of the media", () => {
  assert.deepEqual(readConfig(own).backupS3, ownRead);
  assert.deepEqual(readConfig({ ...media, ...own }).backupS3, ownRead);
  assert.deepEqual(readConfig(media).backupS3, {
    endpoint: "http://minio:9000",
    region: "eu-north-1",
    key: { id: "id", secret: "secret" },
  });
  assert.deepEqual(readConfig({}).backupS3, {
    endpoint: undefined,
    region: "us-east-1",
    key: undefined,
  });
});

test("the key of a bucket of backups has two parts, and a wrong address is reported once", () => {
  assert.throws(
    () => readConfig({ HLUST_BACKUP_S3_ACCESS_KEY_ID: "id" }),
    /HLUST_BACKUP_S3_ACCESS_KEY_ID and HLUST_BACKUP_S3_SECRET_ACCESS_KEY must be set together/,
  );
  assert.throws(
    () => readConfig({ ...media, S3_ENDPOINT: "minio" }),
    (error: Error) => {
      assert.equal(error.message.match(/S3_ENDPOINT/g)?.length, 1, error.message);
      return true;
    },
  );
});
