import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import process from "node:process";
import type { TestService } from "./service.ts";

/**
 * The maximum CPU time between two turns of the event loop, including the clients of the test.
 * Without limits it was 2 to 170 seconds.
 */
export const heldMsMax = 150;

/**
 * Runs a call. Returns its response, and the maximum CPU time of the service's thread between two
 * turns of a timer, which does not depend on how busy the machine is.
 */
export async function held<T>(call: () => Promise<T>): Promise<{ answer: T; heldMs: number }> {
  let before = process.threadCpuUsage();
  let heldMs = 0;
  const look = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    heldMs = Math.max(heldMs, (user + system) / 1000);
    before = process.threadCpuUsage();
  }, 2);
  try {
    const answer = await call();
    return { answer, heldMs };
  } finally {
    clearInterval(look);
  }
}

/**
 * Sends a POST over HTTP/2. Returns the status, the headers and trailers in one record, and the
 * body of the response.
 */
export async function postRpc(
  service: Pick<TestService, "address" | "key">,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array,
) {
  const session = connectHttp2(service.address);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      authorization: `Bearer ${service.key}`,
      ...headers,
    });
    const found: Record<string, string> = {};
    const note = (more: object) => {
      for (const [name, value] of Object.entries(more)) found[name] = String(value);
    };
    stream.on("response", note).on("trailers", note);
    stream.on("error", () => {});
    stream.end(body);
    const text = Buffer.concat(await Array.fromAsync(stream)).toString();
    if (!stream.closed) await once(stream, "close");
    return { status: Number(found[":status"]), headers: found, text };
  } finally {
    session.close();
  }
}

/** Puts a message after the five bytes of its prefix. */
export function envelope(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
