import { namesTag } from "../media/byte-range.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { holdAnswer } from "./held-answers.ts";
import {
  answerContent,
  endBody,
  isClosed,
  writeHead,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";

export interface ExportParts {
  /** Opens the file at a path; undefined if the transcript was deleted. */
  readonly openExport: (
    path: string,
    signal: AbortSignal,
  ) => Promise<
    | {
        readonly accountId: string;
        readonly etag: string;
        readonly contentType: string;
        readonly disposition: string;
        write(): Promise<Uint8Array>;
      }
    | undefined
  >;
  /** The memory for answers. */
  readonly answers: HeldBytes;
}

/** Answers GET and HEAD requests for the exported file of a transcript. Throws not_found. */
export async function answerExport(
  { openExport, answers }: ExportParts,
  path: string,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  if (isClosed(response)) return;
  const file = await openExport(path, gone.signal);
  if (!file) throw new ServiceError("not_found", "the transcript was deleted");
  const { accountId, etag, contentType, disposition } = file;
  const caching = { etag, "cache-control": "private" };
  if (namesTag(request.headers["if-none-match"], etag)) {
    writeHead(response, 304, caching);
    endBody(response, "");
    return;
  }
  const headers = {
    "content-type": contentType,
    "content-disposition": disposition,
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    ...caching,
  };
  if (request.method === "HEAD") {
    writeHead(response, 200, headers);
    endBody(response, "");
    return;
  }
  const data = await file.write();
  holdAnswer(answers, accountId, response, data.length);
  answerContent(response, 200, data, headers);
}
