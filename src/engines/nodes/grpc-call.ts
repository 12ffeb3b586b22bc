import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type SecureClientSessionOptions,
} from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { type GrpcMessage, GrpcMessageReader } from "./grpc-messages.ts";
import { windowBytes } from "./node-protocol.ts";

/** The error for a connection that ended before it was open. */
export class ClosedBeforeOpen extends Error {}

export interface GrpcCallOptions {
  /** The address, as <scheme>://<host>:<port>. */
  readonly origin: string;
  /** The path of the method. */
  readonly path: string;
  readonly authorization: string;
  readonly connection: SecureClientSessionOptions;
  /** Takes the bytes of a message, which are reused. An error of it ends the call. */
  readonly onMessage: (bytes: Buffer) => void;
}

/**
 * A call of gRPC with a stream of messages in both directions, on a connection of its own. The
 * client library passes each message through eight iterators: bench/RESULTS.md compares both.
 */
export class GrpcCall implements Disposable {
  /** Resolves when the server has ended the call without an error; rejects with the error. */
  readonly ended: Promise<void>;
  readonly #ended = Promise.withResolvers<void>();
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #onMessage: (bytes: Buffer) => void;
  readonly #reader = new GrpcMessageReader();
  #isOpen = false;
  #hasStatus = false;

  constructor({ origin, path, authorization, connection, onMessage }: GrpcCallOptions) {
    this.ended = this.#ended.promise;
    this.ended.catch(() => {});
    this.#onMessage = onMessage;
    const settings = { initialWindowSize: windowBytes, enablePush: false };
    this.#session = connect(origin, { ...connection, settings });
    this.#session.on("connect", () => {
      // The settings are those of each stream. A call may end before its connection is open.
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(windowBytes);
    });
    this.#session.on("remoteSettings", () => (this.#isOpen = true));
    this.#session.on("error", (error) => this.#fail(this.#causeOf(error)));
    this.#session.on("close", () => this.#fail(this.#closed()));
    this.#stream = this.#session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc+proto",
      te: "trailers",
      authorization,
    });
    this.#stream.on("response", (headers) => this.#begin(headers));
    this.#stream.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#stream.on("trailers", (trailers) => this.#takeStatus(trailers));
    this.#stream.on("error", (error) => this.#fail(this.#causeOf(error)));
    this.#stream.on("close", () => this.#fail(this.#closed()));
  }

  /** Sends a message. Returns a promise only if the connection has to catch up. */
  write(message: GrpcMessage): Promise<void> | undefined {
    const stream = this.#stream;
    if (stream.destroyed || stream.writableEnded) return undefined;
    stream.cork();
    for (const part of message) stream.write(part);
    stream.uncork();
    if (!stream.writableNeedDrain) return undefined;
    return new Promise((resolve) => {
      const go = () => {
        stream.off("drain", go).off("close", go);
        resolve();
      };
      stream.on("drain", go).on("close", go);
    });
  }

  #begin(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    if (headers["grpc-status"] !== undefined) this.#takeStatus(headers);
    else if (headers[":status"] !== 200)
      this.#fail(new Error(`it answered HTTP ${headers[":status"]}`));
  }

  #take(chunk: Buffer): void {
    try {
      for (const message of this.#reader.push(chunk)) {
        if (this.#hasStatus) return;
        this.#onMessage(message);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #takeStatus(headers: IncomingHttpHeaders): void {
    const code = Number(headers["grpc-status"] ?? Code.Unknown);
    if (code === 0) this.#end();
    else this.#fail(new ConnectError(decoded(headers["grpc-message"]), codeOf(code)));
  }

  /** Returns what ended the connection, if that is why its stream failed. */
  #causeOf(error: Error): Error {
    if (error.cause instanceof Error) return error.cause;
    const isOfStream = "code" in error && String(error.code).startsWith("ERR_HTTP2");
    return isOfStream && !this.#isOpen ? this.#closed() : error;
  }

  #closed(): Error {
    if (this.#isOpen) return new Error("the connection ended");
    return new ClosedBeforeOpen("the connection was closed");
  }

  #end(): void {
    this.#hasStatus = true;
    this.#ended.resolve();
  }

  #fail(error: unknown): void {
    this.#hasStatus = true;
    this.#ended.reject(error);
  }

  /** Ends the connection. */
  [Symbol.dispose](): void {
    this.#fail(new Error("the connection was closed here"));
    this.#session.destroy();
  }
}

const codes = Object.values(Code).filter((each) => typeof each === "number");

function codeOf(code: number): Code {
  return codes.find((each: number) => each === code) ?? Code.Unknown;
}

/** Decodes the message of a status (gRPC over HTTP2, Status-Message). */
function decoded(message: string | string[] | undefined): string {
  const text = String(message ?? "");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
