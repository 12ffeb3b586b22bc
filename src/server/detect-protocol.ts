import type { Socket } from "node:net";

/** The first bytes sent by an HTTP/2 client with prior knowledge (RFC 9113, section 3.4). */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/**
 * Reads up to 24 bytes, puts them back, and reports whether they are the HTTP/2 preface. A
 * connection whose protocol is still unknown after `silenceMsMax` is closed, even if it sends
 * single bytes.
 */
export function detectProtocol(
  socket: Socket,
  silenceMsMax: number,
  onDetected: (isHttp2: boolean) => void,
): void {
  const destroy = () => {
    socket.destroy();
  };
  const timer = setTimeout(destroy, silenceMsMax);
  const stop = () => {
    clearTimeout(timer);
    socket.off("readable", onReadable);
    socket.off("error", destroy);
    socket.off("close", stop);
  };
  let head = Buffer.alloc(0);
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    head = Buffer.concat([head, chunk]);
    const length = Math.min(head.length, preface.length);
    const isPrefix = head.compare(preface, 0, length, 0, length) === 0;
    if (isPrefix && length < preface.length) return;
    stop();
    socket.unshift(head);
    onDetected(isPrefix);
  };
  socket.on("error", destroy);
  socket.on("close", stop);
  socket.on("readable", onReadable);
}
