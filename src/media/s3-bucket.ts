import { S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";

/** A bucket of an S3-compatible store, and how to access it. */
export interface S3Settings {
  readonly bucket: string;
  /** undefined: Amazon's for the region. */
  readonly endpoint: string | undefined;
  /** The address in presigned URLs; undefined: the endpoint. */
  readonly publicEndpoint: string | undefined;
  readonly region: string;
  /** undefined: found by the SDK (AWS_*, a profile, the role of the machine). */
  readonly key: { readonly id: string; readonly secret: string } | undefined;
  /** Prefix of every key, so that several services can share a bucket. */
  readonly prefix: string;
  /** Whether clients access the store directly. */
  readonly presigns: boolean;
}

/** The number of attempts of a request, with growing waits. */
const attemptsMax = 3;
const connectMsMax = 3_000;
/** For requests without bulk data. */
const answerMsMax = 15_000;
/** For parts of uploads, and for server-side work on whole objects. */
export const slowAnswerMsMax = 300_000;
/** Each download through the service uses one. */
const socketsMax = 512;

/** A bucket and its client; failures become errors with messages for callers. */
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
   * Awaits an answer of S3. Throws the reason of the signal that the request was sent with, or
   * unavailable.
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

  /** The same; undefined if the object does not exist. */
  async find<T>(request: Promise<T>, action: string): Promise<T | undefined> {
    const found = request.catch((error: unknown) => {
      if (statusOf(error) === 404) return undefined;
      throw error;
    });
    return await this.answer(found, action);
  }
}

/**
 * Compatible with older servers, and signs only headers that the user of a presigned URL can send.
 */
export function createClient(settings: S3Settings, endpoint: string | undefined): S3Client {
  const { region, key } = settings;
  const agent = { keepAlive: true, maxSockets: socketsMax };
  return new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(key && { credentials: { accessKeyId: key.id, secretAccessKey: key.secret } }),
    // Otherwise a presigned PUT contains the checksum of an empty body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // Each would need a connection of its own.
    expectContinueHeader: false,
    maxAttempts: attemptsMax,
    requestHandler: {
      connectionTimeout: connectMsMax,
      requestTimeout: answerMsMax,
      throwOnRequestTimeout: true,
      // Clients may read slowly; TCP itself detects a lost peer.
      socketTimeout: 0,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** Names only: messages of S3 may contain keys and URLs. */
export function failureFields(error: unknown): {
  readonly status: number | undefined;
  /** SlowDown, ECONNREFUSED. */
  readonly error: string;
} {
  const status = statusOf(error);
  if (!(error instanceof Error)) return { status, error: "unknown" };
  const hasCode = "code" in error && typeof error.code === "string";
  return { status, error: hasCode ? String(error.code) : error.name };
}

/** For every failure of S3 callers can only retry; the log has the details for the operator. */
function explainS3(cause: unknown): ServiceError {
  if (statusOf(cause) === 507) {
    return new ServiceError("unavailable", "there is no room for more media", {
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
