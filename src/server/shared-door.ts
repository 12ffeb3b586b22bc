import { zstdDecompress } from "node:zlib";
import { promisify } from "node:util";
import type { HeldBytes } from "../std/held-bytes.ts";
import type { StoredJson } from "../std/raw-field.ts";
import { ServiceError } from "../std/service-error.ts";
import { spliceZstd } from "../std/zstd-frame.ts";
import { takesEncoding } from "./accept-encoding.ts";
import { callOriginOf } from "./call-origin.ts";
import { holdAnswer } from "./held-answers.ts";
import { answerContent, headerOf, isClosed, targetOf, type HttpDoor } from "./http.ts";

const decompress = promisify(zstdDecompress);

export interface SharedDoorParts {
  /** Opens the transcript of a share's token. Throws not_found for any other token. */
  readonly openShared: (
    token: string,
    reader: { readonly address: string; readonly signal: AbortSignal },
  ) => Promise<{
    readonly accountId: string;
    readonly head: string;
    readonly segments: StoredJson;
    readonly tail: string;
  }>;
  /** The memory for answers. */
  readonly answers: HeldBytes;
}

const prefix = "/v1alpha1/shared/";

/**
 * Creates the door of shared transcripts, which need no account: GET and HEAD of
 * /v1alpha1/shared/<token>. The token is the only authorization. Neither search engines nor the
 * next page that a reader opens may learn the address.
 */
export function createSharedDoor({ openShared, answers }: SharedDoorParts): HttpDoor {
  return {
    handles: (request) => targetOf(request).startsWith(prefix),
    async handle(request, response) {
      response.setHeader("x-robots-tag", "noindex");
      response.setHeader("referrer-policy", "no-referrer");
      const method = request.method ?? "";
      if (method !== "GET" && method !== "HEAD") throw notAllowed(method);
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      if (isClosed(response)) return;
      const token = targetOf(request).slice(prefix.length).split("?", 1)[0] ?? "";
      const { address } = callOriginOf(request);
      const shared = await openShared(token, { address, signal: gone.signal });
      const { accountId, head, segments, tail } = shared;
      using held = answers.hold(accountId, head.length + 2 * segments.jsonBytes);
      const takesZstd = takesEncoding(headerOf(request, "accept-encoding") ?? "", "zstd");
      const around = [Buffer.from(head), Buffer.from(tail)] as const;
      const frame = takesZstd ? spliceZstd(around[0], segments.jsonZstd, around[1]) : undefined;
      const body = Buffer.concat(frame ?? [around[0], await plainOf(segments), around[1]]);
      held[Symbol.dispose]();
      holdAnswer(answers, accountId, response, body.length);
      answerContent(response, 200, body, {
        "content-type": "application/json",
        vary: "Accept-Encoding",
        ...(frame && { "content-encoding": "zstd" }),
      });
    },
  };
}

async function plainOf({ json, jsonZstd, jsonBytes }: StoredJson): Promise<Uint8Array> {
  return json ?? (await decompress(jsonZstd, { maxOutputLength: Math.max(jsonBytes, 1) }));
}

function notAllowed(method: string): ServiceError {
  return new ServiceError(
    "unimplemented",
    `shared transcripts accept GET and HEAD, not ${method}`,
    {
      reason: "METHOD_NOT_ALLOWED",
      httpStatus: 405,
      metadata: { allow: "GET, HEAD" },
    },
  );
}
