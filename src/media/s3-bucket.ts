import { S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";

/** A bucket of an S3-compatible store, and how to access it. */
export interface S3Settings {
  readonly bucket: string;
  /** The URL of the S3 service. undefined means Amazon's endpoint for the region. */
  readonly endpoint: string | undefined;
  /** The address to use in presigned URLs. undefined means the endpoint. */
  readonly publicEndpoint: string | undefined;
  readonly region: string;
  /** The access key. If undefined, the SDK finds one (AWS_*, a profile, or the machine's role). */
  readonly key: { readonly id: string; readonly secret: string } | undefined;
  /** The prefix of every key, which lets several services share a bucket. */
  readonly prefix: string;
  /** Whether clients access the store directly, by presigned URLs. */
  readonly presigns: boolean;
}

/** The maximum number of attempts for a request, with increasing delays. */
const attemptsMax = 3;
const connectMsMax = 3_000;
/** The time limit for requests without bulk data. */
const answerMsMax = 15_000;
/** The time limit for parts of uploads, and for server-side work on whole objects. */
export const slowAnswerMsMax = 300_000;
/** The maximum number of connections. Each download through the service uses one. */
const socketsMax = 512;

/** A bucket and its client. Failures become errors with messages for callers. */
export class S3Bucket implements Disposable {
  readonly name: string;
  readonly client: S3Client;
  readonly #log: Log;

  constructor(settings: S3Settings, { log }: { readonly log: Log }) {
    this.name = settings.bucket;
    this.client = createClient(settings, settings.endpoint);
    this.#log = log;
  }

  [Symbol.dispose](): void {
    this.client.destroy();
  }

  /**
   * Awaits a response from S3. Throws unavailable if the request failed, or the abort reason of the
   * signal that the request was sent with.
   */
  async answer<T>(request: Promise<T>, action: string, signal?: AbortSignal): Promise<T> {
    try {
      return await request;
    } catch (error) {
      signal?.throwIfAborted();
      this.#log.warn({ action, ...failureFields(error) }, "media.s3_failed");
      throw explainS3(error);
    }
  }

  /** Awaits a response from S3 about an object. Returns undefined if the object does not exist. */
  async find<T>(request: Promise<T>, action: string): Promise<T | undefined> {
    const found = request.catch((error: unknown) => {
      if (statusOf(error) === 404) return undefined;
      throw error;
    });
    return await this.answer(found, action);
  }
}

/**
 * Creates a client that also works with older servers, and signs only headers that the user of a
 * presigned URL can send.
 */
export function createClient(settings: S3Settings, endpoint: string | undefined): S3Client {
  const { region, key } = settings;
  const agent = { keepAlive: true, maxSockets: socketsMax };
  return new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(key && { credentials: { accessKeyId: key.id, secretAccessKey: key.secret } }),
    // By default, a presigned PUT would contain the checksum of an empty body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // Each request that waits for "100 Continue" would need its own connection.
    expectContinueHeader: false,
    maxAttempts: attemptsMax,
    requestHandler: {
      connectionTimeout: connectMsMax,
      requestTimeout: answerMsMax,
      throwOnRequestTimeout: true,
      // Clients may read slowly. TCP itself detects a lost peer.
      socketTimeout: 0,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/**
 * Returns the fields of a failure for the log. They contain only names, because S3 messages can
 * contain keys and URLs.
 */
export function failureFields(error: unknown): {
  readonly status: number | undefined;
  /** The name or code of the error, such as SlowDown or ECONNREFUSED. */
  readonly error: string;
} {
  const status = statusOf(error);
  if (!(error instanceof Error)) return { status, error: "unknown" };
  const hasCode = "code" in error && typeof error.code === "string";
  return { status, error: hasCode ? String(error.code) : error.name };
}

/**
 * Returns the error for callers, who can only retry after any S3 failure. The log has the details
 * for the operator.
 */
function explainS3(cause: unknown): ServiceError {
  if (statusOf(cause) === 507) {
    return new ServiceError("unavailable", "the media store is full", {
      reason: "STORAGE_FULL",
      retryAfterMs: 60_000,
      cause,
    });
  }
  return new ServiceError("unavailable", "the media store is unavailable: try again later", {
    reason: "STORAGE_UNAVAILABLE",
    retryAfterMs: 2_000,
    cause,
  });
}
