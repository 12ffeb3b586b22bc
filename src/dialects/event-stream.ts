import {
  endBody,
  flushHead,
  isClosed,
  writeHead,
  writePart,
  type HttpResponse,
} from "../server/http.ts";

/** The time after which the headers are sent without an event, and then a comment. */
const aliveMs = 10_000;

/** Server-sent events of JSON (HTML, section 9.2.6), with comments while nothing happens. */
export class EventStream implements Disposable {
  readonly #response: HttpResponse;
  readonly #alive: NodeJS.Timeout;
  #hasBegun = false;

  constructor(response: HttpResponse) {
    this.#response = response;
    this.#alive = setInterval(() => this.#write(": alive\n\n"), aliveMs);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Sends an event with its type, which some clients need and others ignore. */
  send(type: string, data: object): void {
    this.#write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  }

  /** Sends the event that ends the streams of OpenAI's clients, and ends the answer. */
  end(): void {
    this.#write("data: [DONE]\n\n");
    this.close();
  }

  /** Sends the event that clients throw as an error, and ends the answer. */
  fail(error: object): void {
    this.#write(`event: error\ndata: ${JSON.stringify({ error })}\n\n`);
    this.close();
  }

  close(): void {
    clearInterval(this.#alive);
    if (!isClosed(this.#response)) endBody(this.#response, "");
  }

  #write(text: string): void {
    if (isClosed(this.#response)) return;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      writeHead(this.#response, 200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-accel-buffering": "no",
      });
      flushHead(this.#response);
    }
    writePart(this.#response, text);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#alive);
  }
}
