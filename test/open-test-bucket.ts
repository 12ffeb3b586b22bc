import { ListMultipartUploadsCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import type { S3Settings } from "../src/media/s3-bucket.ts";
import type { TestS3 } from "./open-test-s3.ts";

/** An empty bucket of a test, as the settings of a store name it, and as the test looks into it. */
export interface TestBucket {
  readonly settings: S3Settings;
  /** Keys of all objects. */
  keys(): Promise<string[]>;
  /** Keys of puts in parts that did not end. */
  unfinished(): Promise<string[]>;
}

export async function openTestBucket(s3: TestS3): Promise<TestBucket> {
  const Bucket = await s3.newBucket();
  return {
    settings: {
      bucket: Bucket,
      endpoint: s3.endpoint,
      publicEndpoint: undefined,
      region: "us-east-1",
      key: { id: s3.accessKeyId, secret: s3.secretAccessKey },
      prefix: "",
      presigns: true,
    },
    async keys() {
      const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket }));
      return Contents.map(({ Key = "" }) => Key);
    },
    async unfinished() {
      const { Uploads = [] } = await s3.client.send(new ListMultipartUploadsCommand({ Bucket }));
      return Uploads.map(({ Key = "" }) => Key);
    },
  };
}
