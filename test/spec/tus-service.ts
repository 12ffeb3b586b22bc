import assert from "node:assert/strict";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

type TusBody = string | Uint8Array<ArrayBuffer> | ReadableStream;
type TusHeaders = Readonly<Record<string, string | undefined>>;

/** A service, and calls of the protocol tus with its key. */
export interface TusService extends AsyncDisposable {
  readonly service: TestService;
  /** The URL at which uploads are created. */
  readonly endpoint: string;
  /** The headers of every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sends a request. An undefined header is not sent. */
  send(method: string, url: string, headers?: TusHeaders, body?: TusBody): Promise<Response>;
  /** Creates an upload; returns its URL. */
  create(sizeBytes: number, headers?: TusHeaders): Promise<string>;
  /** Returns the number of bytes that the service has. */
  offsetOf(url: string): Promise<number>;
  /** Creates a transcript; returns its name. */
  newTranscript(): Promise<string>;
}

export async function openTusService(environment: Record<string, string>): Promise<TusService> {
  const service = await openTestService(environment);
  const endpoint = `${service.address}/v1alpha1/uploads`;
  const headers = { authorization: `Bearer ${service.key}`, "tus-resumable": "1.0.0" };
  const send: TusService["send"] = async (method, url, more = {}, body) => {
    const all: TusHeaders = { ...headers, ...more };
    const sent = Object.entries(all).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    );
    const content = body === undefined ? {} : ({ body, duplex: "half" } as const);
    return await fetch(url, { method, headers: sent, ...content });
  };
  return {
    service,
    endpoint,
    headers,
    send,
    async create(sizeBytes, more = {}) {
      const answer = await send("POST", endpoint, { "upload-length": `${sizeBytes}`, ...more });
      assert.equal(answer.status, 201, await answer.text());
      return answer.headers.get("location") ?? "";
    },
    async offsetOf(url) {
      const answer = await send("HEAD", url);
      assert.equal(answer.status, 200);
      return Number(answer.headers.get("upload-offset"));
    },
    newTranscript: async () =>
      (await service.call("POST", "/v1alpha1/transcripts", draftOf("Með hljóði"))).json.name,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** Returns the headers of a request whose body begins at an offset. */
export function part(offset: number): Record<string, string> {
  return {
    "upload-offset": `${offset}`,
    "content-type": "application/offset+octet-stream",
  };
}

/** Returns the reason of a refused request. */
export async function reasonOf(answer: Response): Promise<string> {
  const { error } = JSON.parse(await answer.text());
  return error.details[0].reason;
}

export const base64 = (text: string): string => Buffer.from(text).toString("base64");
