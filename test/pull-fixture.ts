import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelDownload } from "../src/engines/models/catalogue.ts";
import { pullModel, type PullOptions } from "../src/engines/models/pull-model.ts";
import { ServiceError, type ErrorCode } from "../src/std/service-error.ts";
import { hiddenNames, modelArchive, onlyModel, testCard } from "./model-fixture.ts";
import { until } from "./until.ts";

export const weights = randomBytes(400_000);
export const archive = modelArchive(weights);

/** What a server was asked for, and how much it sent. */
export interface Sent {
  bytes: number;
  readonly ranges: (string | undefined)[];
}

/** A models folder to pull the model "it" into. */
export class PullFixture implements Disposable {
  readonly modelsFolder = mkdtempSync(join(tmpdir(), "hlust-pull-"));
  /** As the pull that goes on says. */
  #receivedBytes = 0;

  /** `url` is that of its archive. */
  async pull(
    url: string,
    download: Partial<ModelDownload> = {},
    options: Partial<PullOptions> = {},
  ): Promise<void> {
    const downloads = [{ url, unpack: "tar.bz2" as const, ...download }];
    this.#receivedBytes = 0;
    await pullModel(
      { card: testCard("it"), downloads },
      {
        modelsFolder: this.modelsFolder,
        onProgress: ({ receivedBytes }) => {
          this.#receivedBytes = receivedBytes;
        },
        ...options,
        limits: { backoffMs: 5, triedBytesMin: 10_000, ...options.limits },
      },
    );
  }

  /** The model is there as it was published, and nothing is left of the pull. */
  async assertInstalled(): Promise<void> {
    const { folder } = await onlyModel(this.modelsFolder);
    assert.ok(readFileSync(join(folder, "model.onnx")).equals(weights));
    const { installed, downloads } = hiddenNames(this.modelsFolder);
    assert.equal(installed.length, 1);
    assert.deepEqual(downloads, []);
  }

  assertNothingInstalled(): void {
    assert.deepEqual(hiddenNames(this.modelsFolder).installed, []);
  }

  /** Serves bytes, ranges of them too, and counts what it sent; `cuts` are where each connection breaks. */
  serving(bytes: Buffer, sent: Sent, cuts: number[] = [], etag = '"one"'): RequestListener {
    return (request, response) => {
      const from = askedFrom(request, etag);
      sent.ranges.push(request.headers.range);
      const cut = cuts.shift();
      const rest = bytes.subarray(from, cut);
      writeHead(response, { from, length: bytes.length, etag });
      sent.bytes += rest.length;
      if (cut === undefined) response.end(rest);
      else this.breakOff(response, rest, cut);
    };
  }

  /** Sends bytes, and breaks the connection when they have arrived: what is still on its way then is lost. */
  breakOff(response: ServerResponse, bytes: Uint8Array, arrived = bytes.length): void {
    response.write(bytes);
    until(() => Promise.resolve(this.#receivedBytes === arrived)).then(
      () => response.destroy(),
      () => response.destroy(),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.modelsFolder, { recursive: true, force: true });
  }
}

export async function refusedPull(
  promise: Promise<void>,
  code: ErrorCode,
  message: RegExp,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.match(error.message, message);
    assert.equal(error.code, code, error.message);
    return true;
  });
}

function askedFrom({ headers }: IncomingMessage, etag: string): number {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
  return headers["if-range"] === etag ? from : 0;
}

/** The head of an answer with a file, or with the rest of it. */
export function writeHead(
  response: ServerResponse,
  { from, length, etag }: { from: number; length: number; etag: string },
): void {
  response.writeHead(from > 0 ? 206 : 200, {
    "content-length": length - from,
    etag,
    ...(from > 0 && { "content-range": `bytes ${from}-${length - 1}/${length}` }),
  });
}
