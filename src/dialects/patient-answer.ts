import {
  answerContent,
  endBody,
  flushHead,
  isClosed,
  writeHead,
  writePart,
  type HttpResponse,
} from "../server/http.ts";

export interface PatientAnswerOptions {
  readonly contentType: string;
  /** What a file of this type begins with, if a client waits long for the rest. */
  readonly opening?: string;
  /** What a file of this type can have at its start any number of times. */
  readonly filler: string;
  /** The time after which the answer begins without its content. Default: 45 s. */
  readonly afterMs?: number;
  /** Default: 15 s. */
  readonly everyMs?: number;
}

/**
 * The answer to a call that can take many minutes. Proxies and clients give up an answer that does
 * not begin (nginx after 60 s, Node's fetch after 300 s), so that it begins after a while with
 * characters that mean nothing. An error can then have no status any more: it cuts the answer.
 */
export class PatientAnswer implements Disposable {
  readonly #response: HttpResponse;
  readonly #options: PatientAnswerOptions;
  #timer: NodeJS.Timeout;
  #hasBegun = false;

  constructor(response: HttpResponse, options: PatientAnswerOptions) {
    this.#response = response;
    this.#options = options;
    const { afterMs = 45_000, everyMs = 15_000 } = options;
    this.#timer = setTimeout(() => {
      this.#begin();
      this.#timer = setInterval(() => this.#write(options.filler), everyMs);
    }, afterMs);
  }

  /** Sends the content, with the opening in any case. */
  end(content: string, headers: Readonly<Record<string, string>> = {}): void {
    clearInterval(this.#timer);
    if (isClosed(this.#response)) return;
    const { opening = "", contentType } = this.#options;
    if (this.#hasBegun) endBody(this.#response, content);
    else {
      const all = { "content-type": contentType, ...headers };
      answerContent(this.#response, 200, `${opening}${content}`, all);
    }
  }

  #begin(): void {
    if (isClosed(this.#response)) return;
    this.#hasBegun = true;
    const { contentType, opening = "", filler } = this.#options;
    writeHead(this.#response, 200, {
      "content-type": contentType,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      // nginx would keep the first bytes until there are more.
      "x-accel-buffering": "no",
    });
    flushHead(this.#response);
    this.#write(opening === "" ? filler : opening);
  }

  #write(text: string): void {
    if (!isClosed(this.#response)) writePart(this.#response, text);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
