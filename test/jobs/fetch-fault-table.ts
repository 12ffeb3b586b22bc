import type { RequestListener, ServerResponse } from "node:http";
import { deflateRawSync, gzipSync } from "node:zlib";
import { toneWav } from "../fixtures/jobs-fixture.ts";
import { numbers } from "../fixtures/worker-fixture.ts";

/** A part of every URL, which must not appear in logs or responses. */
export const secret = "SiGnAtUrE";
export const tones = toneWav(numbers(4));
/**
 * A fault with the response that causes it, and the code and message of the error with which its
 * job ends.
 */
export type FetchFault = readonly [
  fault: string,
  answer: RequestListener,
  code: number,
  message: RegExp,
];

/** Returns a listener that sends a response written by hand, byte by byte. */
export function raw(...parts: readonly (string | Buffer)[]): RequestListener {
  return ({ socket }) => {
    for (const part of parts) socket.write(part);
    socket.end();
  };
}

/** Sends a start, then repeats the same bytes as fast as they are read. */
function endless(start: string, part: string | Buffer): RequestListener {
  return ({ socket }) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(part));
    };
    socket.on("drain", more).write(start);
    more();
  };
}

/** Sends a start, then repeats the same bytes, a few at a time. */
function dripping(start: string, part: string): RequestListener {
  return ({ socket }) => {
    socket.write(start);
    const timer = setInterval(() => socket.write(part), 20);
    socket.on("close", () => clearInterval(timer));
  };
}

function status(code: number, headers: Record<string, string> = {}): RequestListener {
  return (_, response) => response.writeHead(code, headers).end("<p>no</p>");
}

export function sent(body: string | Buffer, headers: Record<string, string> = {}): RequestListener {
  return (_, response) => response.writeHead(200, headers).end(body);
}

/** Sends a part of `tones`, and then resets the connection. */
function resetAfter(bytes: number): RequestListener {
  return (request, response) => {
    response.writeHead(200, { "content-length": tones.length });
    response.write(tones.subarray(0, bytes), () => request.socket.resetAndDestroy());
  };
}

/** Breaks the connection once, then sends a wrong response each time. */
export function thenWrong(
  wrong: (response: ServerResponse, from: number) => void,
): RequestListener {
  return (request, response) => {
    const from = Number(/\d+/.exec(request.headers.range ?? "")?.[0] ?? 0);
    if (from > 0) return wrong(response, from);
    response.writeHead(200, { etag: '"one"', "content-length": tones.length });
    response.write(tones.subarray(0, 1_000), () => response.destroy());
  };
}

export const ok = "HTTP/1.1 200 OK\r\n";
const broke =
  /^(the connection to the server of the media broke after \d+( of \d+)? bytes|the server of the media closed the connection)$/;
const late = /^the server of the media did not answer in time$/;
const notHttp = /^the server of the media does not answer in HTTP$/;
const headers = /^the server of the media answered too many headers$/;
const zeros = gzipSync(Buffer.alloc(20_000_000));
const zip = Buffer.concat([Buffer.from("PK\x03\x04"), deflateRawSync(Buffer.alloc(20_000_000))]);

export const fetchFaults: readonly FetchFault[] = [
  ["reset when asked", ({ socket }) => socket.resetAndDestroy(), 14, broke],
  ["reset after the head", resetAfter(0), 14, broke],
  ["reset in the middle", resetAfter(10_000), 14, broke],
  ["closed when asked", raw(), 14, broke],
  ["401", status(401), 7, /^the server of the media answered 401 Unauthorized$/],
  ["403", status(403), 7, /^the server of the media answered 403 Forbidden$/],
  ["404", status(404), 5, /^the server of the media answered 404 Not Found$/],
  ["410", status(410), 5, /^the server of the media answered 410 Gone$/],
  [
    "429",
    status(429, { "retry-after": "3600" }),
    14,
    /429 Too Many Requests and asks to retry after 3600 s$/,
  ],
  ["500", status(500), 14, /^the server of the media answered 500 Internal Server Error$/],
  ["503", status(503), 14, /^the server of the media answered 503 Service Unavailable$/],
  ["206 unasked", status(206), 9, /answered 206 Partial Content$/],
  ["nothing", sent(""), 3, /^the media is empty/],
  [
    "endless body",
    endless(`${ok}\r\n`, Buffer.alloc(65_536)),
    11,
    /^the media is larger than 1000000 bytes/,
  ],
  [
    "declared too large",
    sent("", { "content-length": "99999999999" }),
    11,
    /^the media is larger than 1000000 bytes/,
  ],
  [
    "a byte at a time",
    dripping(`${ok}\r\n`, "a"),
    4,
    /^the media arrived more slowly than 2000 bytes a second/,
  ],
  [
    "nothing after the head",
    dripping(`${ok}Content-Length: 9\r\n\r\n`, ""),
    4,
    /^the media arrived more slowly/,
  ],
  ["length too short", raw(`${ok}Content-Length: 10000\r\n\r\n`, tones), 15, /cut short/],
  ["length too long", raw(`${ok}Content-Length: ${tones.length + 1}\r\n\r\n`, tones), 14, broke],
  [
    "length too long, closing",
    raw(`${ok}Connection: close\r\nContent-Length: ${tones.length + 1}\r\n\r\n`, tones),
    14,
    broke,
  ],
  ["chunks broken off", raw(`${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`), 14, broke],
  [
    "chunks broken off, closing",
    raw(`${ok}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc`),
    14,
    broke,
  ],
  ["chunks of nonsense", raw(`${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n`), 9, notHttp],
  ["no length, closed", raw(`${ok}\r\n`, tones.subarray(0, 10_000)), 15, /cut short/],
  ["a web page", sent("<!doctype html><title>Sign in</title>"), 3, /web page/],
  ["a playlist", sent(`#EXTM3U\nhttp://127.0.0.1/${secret}.wav\n`), 3, /playlist/],
  ["gzip", sent(zeros, { "content-encoding": "gzip" }), 9, /compressed data \(Content-Encoding\)/],
  ["gzip twice", sent(gzipSync(zeros), { "content-encoding": "gzip, gzip" }), 9, /compressed data/],
  [
    "gzip as transfer",
    raw(`${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`),
    9,
    /compressed data \(Transfer/,
  ],
  ["a gzip file", sent(zeros), 3, /./],
  ["a zip file", sent(zip), 3, /./],
  ["a header of 20 kB", raw(`${ok}A: ${"a".repeat(20_000)}\r\n\r\nabc`), 9, headers],
  ["10,000 headers", raw(ok, "a: b\r\n".repeat(10_000), "\r\nabc"), 9, headers],
  ["an endless header", endless(`${ok}A: `, "a".repeat(65_536)), 9, headers],
  ["slow headers", dripping(ok, "A: b\r\n"), 14, late],
  ["a flood of 1xx", dripping("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(10)), 14, late],
  ["silence", dripping("", ""), 14, late],
  ["HTTP/0.9", raw("<html>0.9</html>"), 9, notHttp],
  ["SSH", raw("SSH-2.0-OpenSSH_9.2\r\n"), 9, notHttp],
  [
    "another range",
    thenWrong((response, from) => {
      const range = `bytes ${from + 1}-${tones.length - 1}/${tones.length}`;
      response.writeHead(206, { etag: '"one"', "content-range": range }).end(tones);
    }),
    14,
    broke,
  ],
  [
    "many ranges",
    thenWrong((response) => {
      response.writeHead(206, { "content-type": "multipart/byteranges; boundary=a" }).end("--a--");
    }),
    14,
    broke,
  ],
  [
    "a wrong checksum",
    sent(tones, { "content-md5": "1B2M2Y8AsgTpgAmY7PhCfg==" }),
    15,
    /damaged.+checksum of its server/,
  ],
  [
    "a redirect inside",
    status(302, { location: "http://10.0.0.1/" }),
    9,
    /^the address of the host is not public$/,
  ],
  [
    "a redirect to a file",
    status(302, { location: `file:///etc/${secret}` }),
    9,
    /redirects to one that begins with "file:"/,
  ],
  [
    "redirects for ever",
    status(302, { location: `?fault=redirects+for+ever&${secret}` }),
    9,
    /redirects more than 5 times$/,
  ],
];
