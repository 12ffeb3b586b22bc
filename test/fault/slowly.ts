import type { RequestListener } from "node:http";

const partsCount = 8;

/** Returns a listener that sends bytes in parts over this many milliseconds. */
export function slowly(bytes: Buffer, ms: number): RequestListener {
  return (_request, response) => {
    response.setHeader("content-length", bytes.length);
    const part = Math.ceil(bytes.length / partsCount);
    let at = 0;
    const timer = setInterval(() => {
      response.write(bytes.subarray(at, (at += part)));
      if (at < bytes.length) return;
      clearInterval(timer);
      response.end();
    }, ms / partsCount);
    response.on("close", () => {
      clearInterval(timer);
    });
  };
}
