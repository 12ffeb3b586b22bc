import { S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";

/** A bucket of an S3-compatible store, and how it is reached. */
export interface S3Settings {
  readonly bucket: string;
  /** undefined: Amazon's own for the region. */
  readonly endpoint: string | undefined;
  /** What presigned URLs name; undefined: the endpoint. */
  readonly publicEndpoint: string | undefined;
  readonly region: string;
  /** undefined: what the SDK finds by itself (AWS_*, a profile, the role of the machine). */
  readonly key: { readonly id: string; readonly secret: string } | undefined;
  /** Stands before every key, so that several services can share a bucket. */
  readonly prefix: string;
  /** Whether callers are sent to the store itself. */
  readonly presigns: boolean;
}

/** A request is tried this often, with growing waits. */
const triesMax = 3;
const connectMsMax = 3_000;
/** For what moves no bytes. */
const answerMsMax = 15_000;
/** For parts of uploads, and for what the store does with whole objects before it answers. */
export const slowAnswerMsMax = 300_000;
/** Each download that passes through the service holds one. */
const socketsMax = 512;

/** A bucket and its client, whose failures are told in words for callers. */
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
   * What S3 answers. Throws the reason of the signal that the request was sent with, or
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

  /** The same; undefined where S3 has no such thing. */
  async find<T>(request: Promise<T>, action: string): Promise<T | undefined> {
    const found = request.catch((error: unknown) => {
      if (statusOf(error) === 404) return undefined;
      throw error;
    });
    return await this.answer(found, action);
  }
}

/**
 * Speaks what older servers know too, and signs nothing that the caller of a presigned URL could
 * not send.
 */
export function createClient(settings: S3Settings, endpoint: string | undefined): S3Client {
  const { region, key } = settings;
  const agent = { keepAlive: true, maxSockets: socketsMax };
  return new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(key && { credentials: { accessKeyId: key.id, secretAccessKey: key.secret } }),
    // Otherwise a presigned PUT carries the checksum of an empty body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // Each would need a connection of its own.
    expectContinueHeader: false,
    maxAttempts: triesMax,
    requestHandler: {
      connectionTimeout: connectMsMax,
      requestTimeout: answerMsMax,
      throwOnRequestTimeout: true,
      // Callers may read slowly; TCP itself finds a peer that is gone.
      socketTimeout: 0,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** Names only: the words of S3 may name keys and URLs. */
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

/** Whatever S3 fails with, callers can only come again; the log has what its operator must know. */
function explainS3(cause: unknown): ServiceError {
  if (statusOf(cause) === 507) {
    return new ServiceError("unavailable", "there is no room for more media", {
      reason: "STORAGE_FULL",
      retryAfterMs: 60_000,
      cause,
    });
  }
  return new ServiceError("unavailable", "the media store is away for a moment: try again", {
    reason: "STORAGE_UNAVAILABLE",
    retryAfterMs: 2_000,
    cause,
  });
}
