import type { WriteRequest } from "../../gen/google/bytestream/bytestream_pb.ts";
import { offsetMismatch } from "../../media/media-store.ts";
import { invalidArgument, ServiceError, shown } from "../../std/service-error.ts";
import { within } from "../../std/within.ts";

/** The time in which a client may end the stream after its last message. */
const endMsMax = 2_000;

/** The messages of one write, read one after the other. */
export class WriteMessages implements Disposable {
  /** The name and the offset of the first message. */
  readonly name: string;
  readonly offset: number;
  /** Aborts if no message arrives in time. */
  readonly idle: AbortSignal;
  readonly #first: WriteRequest;
  readonly #rest: AsyncIterator<WriteRequest>;
  readonly #idleMsMax: number;
  readonly #idling = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isFinished = false;

  private constructor(first: WriteRequest, rest: AsyncIterator<WriteRequest>, idleMsMax: number) {
    this.name = first.resourceName;
    this.offset = Number(first.writeOffset);
    this.idle = this.#idling.signal;
    this.#first = first;
    this.#rest = rest;
    this.#idleMsMax = idleMsMax;
  }

  /** Waits for the first message. */
  static async open(
    messages: AsyncIterable<WriteRequest>,
    idleMsMax: number,
  ): Promise<WriteMessages> {
    const rest = messages[Symbol.asyncIterator]();
    const first = { value: undefined as WriteRequest | undefined };
    const isHere = await within(
      idleMsMax,
      rest.next().then(({ done, value }) => {
        if (done !== true) first.value = value;
      }),
    );
    if (!isHere) throw idle(idleMsMax);
    if (!first.value || first.value.resourceName === "") {
      throw invalidArgument([{ field: "resourceName", description: "is required" }]);
    }
    return new WriteMessages(first.value, rest, idleMsMax);
  }

  /** Whether the last message has finished the content. Known after the last byte. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Yields the bytes of all messages, each of which must continue the one before. */
  async *bytes(): AsyncGenerator<Uint8Array, void> {
    let at = this.offset;
    let message: WriteRequest | undefined = this.#first;
    while (message) {
      this.#check(message, at);
      at += message.data.length;
      if (message.data.length > 0) yield message.data;
      if (message.finishWrite) {
        await this.#end();
        this.#isFinished = true;
        return;
      }
      message = await this.#next();
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#rest.return?.().catch(() => {});
  }

  #check({ resourceName, writeOffset }: WriteRequest, at: number): void {
    if (resourceName !== "" && resourceName !== this.name) {
      const description = `is ${shown(resourceName)}, but the write is of ${shown(this.name)}`;
      throw invalidArgument([{ field: "resourceName", description }]);
    }
    if (Number(writeOffset) !== at) throw offsetMismatch(Number(writeOffset), at);
  }

  async #next(): Promise<WriteRequest | undefined> {
    this.#timer = setTimeout(() => {
      this.#idling.abort(idle(this.#idleMsMax));
    }, this.#idleMsMax);
    const { done, value } = await this.#rest.next();
    clearTimeout(this.#timer);
    return done === true ? undefined : value;
  }

  /** Waits a moment for the end of the stream. A message after the last one is an error. */
  async #end(): Promise<void> {
    let isMore = false;
    const ending = this.#rest.next().then(({ done }) => {
      isMore = done !== true;
    });
    await within(endMsMax, ending);
    if (!isMore) return;
    const description = "was true in an earlier message, which no other may follow";
    throw invalidArgument([{ field: "finishWrite", description }]);
  }
}

function idle(idleMsMax: number): ServiceError {
  return new ServiceError(
    "deadline_exceeded",
    `no message arrived for ${idleMsMax / 1000} s: continue at the committed size`,
    { reason: "WRITE_IDLE" },
  );
}
