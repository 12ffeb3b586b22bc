// Does the minimum that a client can do with a download: writes the bytes in chunks of the size in
// which they arrive. curl writes 16 kB at a time, which takes as long as everything else together.
//
// Usage: node get-file.ts <url> <file>
import { closeSync, openSync, writeSync } from "node:fs";
import { connect } from "node:net";

const [address = "", file = ""] = process.argv.slice(2);
const { hostname, port, pathname, search, host } = new URL(address);
const out = openSync(file, "wx");
let head: Buffer | undefined = Buffer.alloc(0);
let missing = Infinity;

/** Writes a part of the body, and closes the connection after the last byte of Content-Length. */
function take(bytes: Uint8Array): void {
  let body = bytes;
  if (head) {
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    const text = head.toString("latin1", 0, end);
    if (!text.startsWith("HTTP/1.1 200")) throw new Error(text.slice(0, 40));
    missing = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
    body = head.subarray(end + 4);
    head = undefined;
  }
  for (let at = 0; at < body.length;) at += writeSync(out, body, at);
  missing -= body.length;
  if (missing > 0) return;
  closeSync(out);
  socket.destroy();
}

const socket = connect({
  host: hostname,
  port: Number(port),
  onread: {
    buffer: Buffer.alloc(1 << 20),
    callback: (length, buffer) => {
      take(buffer.subarray(0, length));
      return true;
    },
  },
});
socket.on("close", () => {
  if (missing !== 0) process.exitCode = 1;
});
socket.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
