import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { createContextValues, type ContextValues, type HandlerContext } from "@connectrpc/connect";
import { callerKey, type Caller } from "../auth/caller.ts";
import { ServiceError } from "../std/service-error.ts";
import { headersOf, type HttpRequest } from "./http.ts";

/**
 * The context of a call over REST or a WebSocket. The headers and signal are created at the first
 * access, because creating them takes longer than the routing, binding and writing of a small call
 * together.
 */
export class CallContext implements HandlerContext, Disposable {
  readonly protocolName: "rest" | "websocket";
  readonly method: DescMethod;
  readonly service: DescService;
  readonly url: string;
  readonly requestMethod: string;
  readonly #caller: Caller;
  readonly #headers: HttpRequest["headers"];
  readonly #endsAt: number | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #values: ContextValues | undefined;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;
  #controller: AbortController | undefined;
  #reason: ServiceError | undefined;

  /** `timeoutMs` is the client's deadline from now. Only the headers of the request are kept. */
  constructor(
    request: Pick<HttpRequest, "method" | "headers">,
    call: {
      readonly protocolName: "rest" | "websocket";
      readonly method: DescMethod;
      readonly url: string;
      readonly caller: Caller;
      readonly timeoutMs?: number | undefined;
    },
  ) {
    const { method, timeoutMs } = call;
    this.protocolName = call.protocolName;
    this.#headers = request.headers;
    this.#caller = call.caller;
    this.method = method;
    this.service = method.parent;
    this.url = call.url;
    this.requestMethod = request.method ?? "";
    if (timeoutMs !== undefined) {
      this.#endsAt = performance.now() + timeoutMs;
      this.#timer = setTimeout(() => {
        const problem = `no answer within the ${timeoutMs} ms that the client allows`;
        this.abort(new ServiceError("deadline_exceeded", problem));
      }, timeoutMs);
    }
  }

  get values(): ContextValues {
    return (this.#values ??= createContextValues().set(callerKey, this.#caller));
  }

  get requestHeader(): Headers {
    return (this.#requestHeader ??= headersOf({ headers: this.#headers }));
  }

  get responseHeader(): Headers {
    return (this.#responseHeader ??= new Headers());
  }

  /** REST and WebSocket have no trailers, so the trailers set here are not sent. */
  get responseTrailer(): Headers {
    return (this.#responseTrailer ??= new Headers());
  }

  /** The headers that the method has set. */
  get answerHeaders(): Readonly<Record<string, string>> {
    return this.#responseHeader === undefined ? {} : Object.fromEntries(this.#responseHeader);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The reason why the call was aborted, if it was. */
  get reason(): ServiceError | undefined {
    return this.#reason;
  }

  readonly timeoutMs = (): number | undefined =>
    this.#endsAt === undefined ? undefined : this.#endsAt - performance.now();

  /** Aborts the call; the first reason counts. */
  abort(reason: ServiceError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
