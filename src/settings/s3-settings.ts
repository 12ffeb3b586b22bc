import type { S3Settings } from "../media/s3-bucket.ts";
import {
  ConfigError,
  httpUrl,
  ifSet,
  oneOf,
  type ReadSetting,
  type Setting,
} from "../std/setting.ts";

/** The settings of S3. */
export const s3Settings = {
  bucket: {
    name: "S3_BUCKET",
    meaning: "Bucket of an S3-compatible store that keeps the media",
    fallback: "media is kept in HLUST_DATA",
    parse: (text) => text,
  },
  endpoint: {
    name: "S3_ENDPOINT",
    meaning: "Address of the S3-compatible store",
    fallback: "Amazon's",
    parse: ifSet(httpUrl),
  },
  publicEndpoint: {
    name: "S3_PUBLIC_ENDPOINT",
    meaning: "Address of the S3-compatible store for clients, in presigned URLs",
    fallback: "S3_ENDPOINT",
    parse: ifSet(httpUrl),
  },
  region: {
    name: "S3_REGION",
    meaning: "Region of the bucket",
    fallback: "us-east-1",
    parse: (text) => text ?? "us-east-1",
  },
  keyId: {
    name: "S3_ACCESS_KEY_ID",
    meaning: "Access key id",
    fallback: "AWS_ACCESS_KEY_ID, a profile or the role of the machine",
    secret: true,
    parse: (text) => text,
  },
  keySecret: {
    name: "S3_SECRET_ACCESS_KEY",
    meaning: "Secret access key",
    fallback: "as for S3_ACCESS_KEY_ID",
    secret: true,
    parse: (text) => text,
  },
  prefix: {
    name: "S3_PREFIX",
    meaning: "Prefix of every object key, so that several services can share a bucket",
    fallback: "nothing",
    parse: (text, name) => keyPrefix(text ?? "", name),
  },
  presigns: {
    name: "HLUST_S3_PRESIGN",
    meaning:
      "Whether clients use the bucket directly with presigned URLs; false: all media passes through the service",
    fallback: "true",
    parse: (text, name) => oneOf(text ?? "true", name, ["true", "false"] as const) === "true",
  },
} satisfies Record<string, Setting<string | boolean | undefined>>;

/**
 * Reads the settings as a whole. Returns undefined if there is no bucket. Invalid settings are
 * added to `problems`.
 */
export function readS3(read: ReadSetting, problems: string[]): S3Settings | undefined {
  const { bucket: bucketSetting, keyId, keySecret, ...rest } = s3Settings;
  const bucket = read(bucketSetting);
  const endpoint = read(rest.endpoint);
  const [id, secret] = [read(keyId), read(keySecret)];
  if (bucket === undefined && endpoint !== undefined) {
    problems.push(`${rest.endpoint.name} is set, but ${bucketSetting.name} is not`);
  }
  if ((id === undefined) !== (secret === undefined)) {
    problems.push(`${keyId.name} and ${keySecret.name} must be set together`);
  }
  const s3 = {
    endpoint,
    publicEndpoint: read(rest.publicEndpoint),
    region: read(rest.region),
    key: id === undefined || secret === undefined ? undefined : { id, secret },
    prefix: read(rest.prefix),
    presigns: read(rest.presigns),
  };
  return bucket === undefined ? undefined : { bucket, ...s3 };
}

/**
 * Returns the prefix with a trailing slash. The prefix may contain only characters without a
 * special meaning in keys and URLs.
 */
function keyPrefix(text: string, name: string): string {
  if (!/^(?:[\w.-]+(?:\/[\w.-]+)*\/?)?$/.test(text)) {
    throw new ConfigError(`${name} must be a path such as hlust/, not ${JSON.stringify(text)}`);
  }
  return text === "" || text.endsWith("/") ? text : `${text}/`;
}
