import type { EngineLink, LinkEnd } from "../pool/engine-link.ts";
import type { Frame, FrameSink } from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";

interface NodeLinkOptions {
  /** Sends frames to the process. The caller may reuse the bytes immediately. */
  readonly send: (bytes: Buffer) => void;
  /** Ends the connection to the node, since this process of it does not answer. */
  readonly onStuck: () => void;
}

/** The link to a process of an engine node, over the connection to the node. */
export class NodeLink implements EngineLink {
  readonly pid = 0;
  readonly isGarbled = false;
  readonly sink: FrameSink;
  readonly ended: Promise<LinkEnd>;
  onFrames: (frames: Iterable<Frame>) => void = () => {};
  readonly #onStuck: () => void;
  readonly #reader = new FrameReader();
  readonly #resolve: (end: LinkEnd) => void;
  #isOver = false;

  constructor({ send, onStuck }: NodeLinkOptions) {
    const { promise, resolve } = Promise.withResolvers<LinkEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#onStuck = onStuck;
    const isOver = () => this.#isOver;
    this.sink = {
      get writable() {
        return !isOver();
      },
      write(bytes, done) {
        send(bytes);
        done();
      },
    };
  }

  /** Takes bytes of the process. Throws if they are not frames of it. */
  receive(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.onFrames(this.#reader.push(chunk));
  }

  /** Ends the link: the process, or the connection to its node, is gone. */
  close(end: LinkEnd): void {
    this.#isOver = true;
    this.#resolve(end);
  }

  end(): void {
    this.close({ how: "closed", isOfProcess: false });
  }

  kill(): void {
    this.#onStuck();
    this.end();
  }
}
