import { promisify } from "node:util";
import { Readable } from "node:stream";
import { brotliCompress, constants, createGzip, deflate, gzip, inflate } from "node:zlib";
import { createConnectRouter } from "@connectrpc/connect";
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
  type ConnectNodeAdapterOptions,
} from "@connectrpc/connect-node";
import { encodeText } from "./grpc-web-text.ts";
import { rpcRequestKey } from "./rpc-request.ts";
import { isJson, splicedKey, type SplicedJson } from "./rpc-answers.ts";
import { takesEncoding } from "./accept-encoding.ts";
import { targetOf, type HttpListener } from "./http.ts";

const zip = promisify(gzip);
const deflateBytes = promisify(deflate);
const inflateBytes = promisify(inflate);
const brotli = promisify(brotliCompress);

/** Shorter responses are not compressed, as in the library. */
const zippedBytesMin = 1024;

/**
 * A faster Brotli compression. For the longest transcripts, the library's own occupies a core for
 * ten seconds, on one of the four threads that file access also uses.
 */
const fastBrotli: Compression = {
  ...compressionBrotli,
  compress: async (bytes) =>
    new Uint8Array(await brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })),
};

/** The compression with the name "deflate", which is zlib's format (gRPC, Compression). */
const deflated: Compression = {
  name: "deflate",
  compress: async (bytes) => new Uint8Array(await deflateBytes(bytes)),
  decompress: async (bytes, bytesMax) =>
    new Uint8Array(await inflateBytes(bytes, { maxOutputLength: bytesMax })),
};

type Options = ConnectNodeAdapterOptions &
  Required<Pick<ConnectNodeAdapterOptions, "contextValues">>;
type Compression = NonNullable<ConnectNodeAdapterOptions["acceptCompression"]>[number];
type UniversalResponse = Parameters<typeof universalResponseToNodeResponse>[0];

/**
 * Works like the library's adapter, except that a long field is spliced chunk by chunk into JSON
 * responses (rpc-answers.ts), which are compressed after that. Accepts only calls to methods that
 * are served.
 */
export function createRpcAdapter(options: Options): HttpListener {
  const acceptCompression = options.acceptCompression ?? [compressionGzip, fastBrotli, deflated];
  const router = createConnectRouter({ ...options, acceptCompression });
  options.routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const [path = ""] = targetOf(request).split("?", 1);
    const handle = handlers.get(path);
    if (handle === undefined) throw new Error(`${path} is not served`);
    const contextValues = options.contextValues(request);
    const call = universalRequestFromNodeRequest(request, response, undefined, contextValues);
    const zips = isUnaryJson(call.header) && takesEncoding(call.header.get(accept) ?? "", "gzip");
    if (isJson(call.header)) for (const name of acceptHeaders) call.header.set(name, "identity");
    const textType = contextValues.get(rpcRequestKey)?.textType;
    const answer = async (): Promise<void> => {
      const written = await handle(call);
      const whole = withSpliced(written, contextValues.get(splicedKey));
      const sent = zips ? await zipped(whole) : withText(whole, textType);
      await universalResponseToNodeResponse(withoutThrow(sent), response);
    };
    // Failures of methods are sent as responses. The only error here is a failure to send to a
    // client that has disconnected.
    answer().catch(() => {
      response.destroy();
    });
  };
}

/** Returns the response in the text mode of gRPC-Web, if a type of that mode is given. */
function withText(response: UniversalResponse, type: string | undefined): UniversalResponse {
  if (type === undefined) return response;
  const header = new Headers(response.header);
  header.set("content-type", type);
  header.delete("content-length");
  const { body } = response;
  return { ...response, header, ...(body && { body: encodeText(body) }) };
}

/**
 * Returns a response whose body is only abandoned if it cannot be written. The library would throw
 * the write error into the method, as if the method had failed.
 */
function withoutThrow(response: UniversalResponse): UniversalResponse {
  const { body } = response;
  if (body === undefined) return response;
  const iterate = (): AsyncIterator<Uint8Array> => {
    const chunks = body[Symbol.asyncIterator]();
    return {
      next: () => chunks.next(),
      return: async () => (await chunks.return?.()) ?? { done: true, value: undefined },
    };
  };
  return { ...response, body: { [Symbol.asyncIterator]: iterate } };
}

const accept = "accept-encoding";
const acceptHeaders = [accept, "grpc-accept-encoding"];

function isUnaryJson(header: Headers): boolean {
  return /^application\/json\b/i.test(header.get("content-type") ?? "");
}

function withSpliced(
  response: UniversalResponse,
  spliced: SplicedJson | undefined,
): UniversalResponse {
  const { body } = response;
  if (!spliced || response.status !== 200 || body === undefined) return response;
  const header = new Headers(response.header);
  header.delete("content-length");
  const isEnveloped = !isUnaryJson(header);
  return { ...response, header, body: isEnveloped ? framed(body, spliced) : inside(body, spliced) };
}

/** Splices the field into a body that is the JSON of a message. */
async function* inside(
  body: AsyncIterable<Uint8Array>,
  spliced: SplicedJson,
): AsyncGenerator<Uint8Array> {
  const { head, tail } = around(Buffer.concat(await Array.fromAsync(body)), spliced);
  yield head;
  yield* spliced.pieces();
  yield tail;
}

const prefixBytes = 5;

/**
 * Splices the field into a body of frames (gRPC over HTTP2, Length-Prefixed-Message). The first
 * frame contains the JSON of a message.
 */
async function* framed(
  body: AsyncIterable<Uint8Array>,
  spliced: SplicedJson,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const frame of body) {
    // If the only frame contains the trailers of a failure, nothing is spliced in.
    if (isFirst && frame[0] === 0) {
      const { head, tail } = around(Buffer.from(frame.subarray(prefixBytes)), spliced);
      const prefix = Buffer.alloc(prefixBytes);
      prefix.writeUInt32BE(head.length + spliced.bytes + tail.length, 1);
      yield Buffer.concat([prefix, head]);
      yield* spliced.pieces();
      yield tail;
    } else yield frame;
    isFirst = false;
  }
}

/** Returns the JSON before and after the spliced field, which comes before all other fields. */
function around(
  json: Buffer,
  { name }: SplicedJson,
): { readonly head: Buffer; readonly tail: Buffer } {
  const others = json.subarray(1);
  const isAlone = others.length === 1;
  return {
    head: Buffer.from(`{${JSON.stringify(name)}:`),
    tail: isAlone ? others : Buffer.concat([Buffer.from(","), others]),
  };
}

async function zipped(response: UniversalResponse): Promise<UniversalResponse> {
  const { body } = response;
  const length = response.header?.get("content-length") ?? undefined;
  if (body === undefined || (length !== undefined && Number(length) < zippedBytesMin))
    return response;
  const header = new Headers(response.header);
  header.set("content-encoding", "gzip");
  header.delete("content-length");
  if (length === undefined) {
    return {
      ...response,
      header,
      body: Readable.from(body, { objectMode: false }).pipe(createGzip()),
    };
  }
  const bytes = await zip(Buffer.concat(await Array.fromAsync(body)));
  header.set("content-length", `${bytes.length}`);
  return { ...response, header, body: Readable.from([bytes]) };
}
