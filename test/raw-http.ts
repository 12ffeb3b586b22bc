import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** One answer as it came; `body` is still in chunks where the server sent it so. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A connection that sends bytes as they are and reads answers of HTTP/1.1. */
export class RawConnection implements AsyncDisposable {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isEnded = false;
  #wake = (): void => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    const end = (): void => {
      this.#isEnded = true;
      this.#wake();
    };
    // A server that refuses to read on may reset the connection.
    socket.on("error", end).on("end", end).on("close", end);
  }

  static async open(address: string): Promise<RawConnection> {
    const { hostname, port } = new URL(address);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  /** The server takes no more requests here. */
  get isEnded(): boolean {
    return this.#isEnded || !this.#socket.writable;
  }

  send(bytes: Uint8Array): void {
    if (!this.isEnded) this.#socket.write(bytes);
  }

  /** Says that nothing more is sent, and waits until the server has said so too. */
  async end(): Promise<void> {
    this.#socket.end();
    while (!this.#isEnded) await this.#more();
  }

  /** The next answer; undefined when the server closes the connection before there is a whole one. */
  async answer(isHead = false): Promise<RawAnswer | undefined> {
    for (;;) {
      const taken = takeAnswer(this.#received, isHead, this.#isEnded);
      if (taken !== undefined) {
        this.#received = this.#received.subarray(taken.length);
        if (taken.answer.status >= 200) return taken.answer;
        if (taken.answer.status === 101) return taken.answer;
        continue;
      }
      if (this.#isEnded) return undefined;
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    if (!this.#socket.closed) await once(this.#socket, "close");
  }
}

function takeAnswer(
  bytes: Buffer,
  isHead: boolean,
  isEnded: boolean,
): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const [, digits] = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first) ?? [];
  assert.ok(digits !== undefined, `not a status line: ${JSON.stringify(first)}`);
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(digits);
  const start = headEnd + 4;
  const end = bodyEnd(bytes, start, { status, headers, isHead, isEnded });
  if (end === undefined || end > bytes.length) return undefined;
  return { answer: { status, headers, body: bytes.subarray(start, end) }, length: end };
}

function bodyEnd(
  bytes: Buffer,
  start: number,
  answer: {
    readonly status: number;
    readonly headers: ReadonlyMap<string, string>;
    readonly isHead: boolean;
    readonly isEnded: boolean;
  },
): number | undefined {
  const { status, headers, isHead, isEnded } = answer;
  if (isHead || status < 200 || status === 204 || status === 304) return start;
  const length = headers.get("content-length");
  if (length !== undefined) return start + Number(length);
  if (headers.get("transfer-encoding") === "chunked") {
    const last = bytes.indexOf("0\r\n\r\n", start);
    return last === -1 ? undefined : last + 5;
  }
  return isEnded ? bytes.length : undefined;
}
