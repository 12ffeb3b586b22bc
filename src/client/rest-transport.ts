import type { DescMessage, DescMethod, Message, MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type Interceptor,
  type StreamRequest,
  type Transport,
} from "@connectrpc/connect";
import { runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import type { Binding, ConfiguredRule } from "../transcoding/http-rules.ts";
import type { WrittenRequest } from "../transcoding/write-request.ts";
import { createHttpContract, type HttpContract } from "./http-contract.ts";
import { type AnswerType, readAnswer, readAnswerStream } from "./read-answer.ts";
import { errorOfConnection, errorOfResponse } from "./read-error.ts";
import { callOverWebSocket } from "./web-socket-call.ts";

export interface RestTransportOptions {
  /**
   * The URL of the service: http: or https:, host and port, and the path prefix of a proxy, if any.
   */
  readonly url: string;
  /**
   * An API key or a JWT, or a function that returns one and is called before each call. A call's
   * own authorization header takes precedence.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /**
   * The HTTP rules of the service, if they differ from those of the contract (HLUST_HTTP_RULES).
   */
  readonly rules?: readonly ConfiguredRule[] | undefined;
  readonly interceptors?: readonly Interceptor[] | undefined;
  /** The time limit of unary calls that set no timeoutMs, in milliseconds. Default: none. */
  readonly defaultTimeoutMs?: number | undefined;
  /**
   * Returns the message that ends the requests of a method, because a WebSocket cannot be closed in
   * one direction only.
   */
  readonly lastMessageOf?: ((method: DescMethod) => Message | undefined) | undefined;
}

/**
 * Creates a Connect transport over REST and WebSocket that uses the HTTP rules of the service. The
 * transport is for createClient(), in browsers and in Node. Calls reject with a ConnectError that
 * has a code, details and, as metadata, the response headers. Streams of responses are
 * newline-delimited JSON; bidirectional streams use a WebSocket.
 */
export function createRestTransport(options: RestTransportOptions): Transport {
  const base = options.url.replace(/\/+$/, "");
  const interceptors = [...(options.interceptors ?? [])];
  const contract = createHttpContract(options.rules);
  const authorize = async ({ header }: { readonly header: Headers }): Promise<void> => {
    if (options.token === undefined || header.has("authorization")) return;
    const token = typeof options.token === "string" ? options.token : await options.token();
    header.set("authorization", `Bearer ${token}`);
  };

  return {
    async unary(
      method,
      signal,
      timeoutMs = options.defaultTimeoutMs,
      header,
      message,
      contextValues,
    ) {
      const about = { stream: false, service: method.parent, method } as const;
      return await runUnaryCall({
        interceptors,
        ...limitsOf(signal, timeoutMs),
        req: { ...about, ...initOf(base, header, contextValues), message },
        next: async (request) => {
          await authorize(request);
          const written = contract.write(method, request.message);
          const response = await send(base, written, request, "application/json");
          const type = answerType(contract, method.output, written.binding);
          const answer = await readAnswer(type, response).catch(throwLost);
          return { ...about, header: response.headers, trailer: new Headers(), message: answer };
        },
      });
    },

    async stream(method, signal, timeoutMs, header, message, contextValues) {
      const about = { stream: true, service: method.parent, method } as const;
      return await runStreamingCall({
        interceptors,
        ...limitsOf(signal, timeoutMs),
        req: { ...about, ...initOf(base, header, contextValues), message },
        next: async (request) => {
          await authorize(request);
          if (method.methodKind === "server_streaming") {
            return { ...about, ...(await callForAnswers(base, contract, request)) };
          }
          const binding = contract.bindingsOf(method).find(isWebSocket);
          if (method.methodKind !== "bidi_streaming" || binding === undefined) {
            throw new ConnectError(`${method.name} has no WebSocket rule`, Code.Unimplemented);
          }
          const answers = await callOverWebSocket({
            base,
            messages: request.message,
            write(message) {
              const { target, body } = contract.write(method, message, isWebSocket);
              return { target, text: typeof body?.content === "string" ? body.content : "{}" };
            },
            noMessage: create(method.input),
            lastMessage: options.lastMessageOf?.(method),
            header: request.header,
            signal: request.signal,
            answer: answerType(contract, method.output, binding),
          });
          return { ...about, header: new Headers(), trailer: new Headers(), message: answers };
        },
      });
    },
  };
}

function isWebSocket({ httpMethod }: Binding): boolean {
  return httpMethod === "WEBSOCKET" || httpMethod === "*";
}

function limitsOf(signal: AbortSignal | undefined, timeoutMs: number | undefined) {
  return { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}

type HeadersLike = ConstructorParameters<typeof Headers>[0];

function initOf(url: string, header: HeadersLike, contextValues = createContextValues()) {
  return { requestMethod: "POST", url, header: new Headers(header), contextValues };
}

function answerType<O extends DescMessage>(
  contract: HttpContract,
  output: O,
  { method, responseBody }: Binding,
): AnswerType<O> {
  return { output, responseBody, registry: contract.registryOf(method.parent) };
}

/** Sends a request and returns its response. Throws the error of a failed response. */
async function send(
  base: string,
  { httpMethod, target, body }: WrittenRequest,
  { header, signal }: { readonly header: Headers; readonly signal: AbortSignal },
  accept: string,
): Promise<Response> {
  const headers = new Headers(header);
  headers.set("accept", accept);
  if (body && body.contentType !== "") headers.set("content-type", body.contentType);
  const init = { method: httpMethod, headers, signal, ...(body && { body: body.content }) };
  let response;
  try {
    response = await fetch(`${base}${target}`, init);
  } catch (error) {
    throw errorOfConnection(error, "the service cannot be reached");
  }
  if (response.ok) return response;
  throw await errorOfResponse(response).catch(throwLost);
}

function throwLost(error: unknown): never {
  throw errorOfConnection(error, "the connection was lost");
}

/** Sends one request and returns the stream of its responses. */
async function callForAnswers<I extends DescMessage, O extends DescMessage>(
  base: string,
  contract: HttpContract,
  request: StreamRequest<I, O>,
): Promise<{ header: Headers; trailer: Headers; message: AsyncIterable<MessageShape<O>> }> {
  const { method } = request;
  const [message = create(method.input)] = await Array.fromAsync(request.message);
  const written = contract.write(method, message);
  const response = await send(base, written, request, "application/x-ndjson");
  const type = answerType(contract, method.output, written.binding);
  const answers = readAnswers(type, response);
  return { header: response.headers, trailer: new Headers(), message: answers };
}

async function* readAnswers<O extends DescMessage>(
  type: AnswerType<O>,
  response: Response,
): AsyncGenerator<MessageShape<O>, void> {
  try {
    yield* readAnswerStream(type, response);
  } catch (error) {
    throwLost(error);
  }
}
