import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import type {
  DescMethod,
  DescMethodStreaming,
  DescMethodUnary,
  JsonObject,
  Message,
} from "@bufbuild/protobuf";
import { fromJson, toJsonString } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { Agent, request as send } from "undici";
import { WebSocket } from "ws";
import { Speech as GoogleSpeech } from "../../src/gen/google/cloud/speech/v1/speech_pb.ts";
import { answerTypes } from "../../src/server/answer-types.ts";
import { createHttpContract } from "../../src/client/http-contract.ts";

/**
 * A call to any method, with its request in JSON. If the method accepts a stream of requests, this
 * request is the only one.
 */
export interface MatrixCall {
  readonly method: DescMethod;
  readonly request: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

export interface MatrixAnswer {
  /** OK, or the name of a google.rpc.Code. A socket that opens counts as OK. */
  readonly code: string;
  /**
   * The whole response without times and request IDs; for an open stream, at most its first
   * message.
   */
  readonly text: string;
}

export type Ask = (call: MatrixCall) => Promise<MatrixAnswer>;

const doorNames = ["REST", "gRPC", "gRPC-Web", "Connect", "WebSocket"] as const;
export type DoorName = (typeof doorNames)[number];

/** Every door of a service, for the methods that the door serves. */
export interface Doors extends Readonly<Record<DoorName, Ask>>, AsyncDisposable {
  /** Calls REST below another path. */
  restUnder(prefix: string): Ask;
}

const contract = createHttpContract();
const isSocket = ({ httpMethod }: { readonly httpMethod: string }): boolean =>
  httpMethod === "WEBSOCKET";

/** Returns the doors at which the contract has a method. */
export function doorsOf(method: DescMethod): DoorName[] {
  const bindings = contract.bindingsOf(method);
  return [
    ...(bindings.some((binding) => !isSocket(binding)) ? (["REST"] as const) : []),
    "gRPC",
    "gRPC-Web",
    "Connect",
    ...(bindings.some(isSocket) ? (["WebSocket"] as const) : []),
  ];
}

export function openDoors(address: string): Doors {
  const agent = new Agent();
  const sessionManager = new Http2SessionManager(address);
  const options = { baseUrl: address, httpVersion: "2", sessionManager } as const;
  return {
    REST: askRest(address, agent),
    restUnder: (prefix) => askRest(`${address}${prefix}`, agent),
    gRPC: askTransport(createGrpcTransport(options)),
    "gRPC-Web": askTransport(createGrpcWebTransport(options)),
    Connect: askTransport(createConnectTransport(options)),
    WebSocket: askWebSocket(address),
    async [Symbol.asyncDispose]() {
      sessionManager.abort();
      await agent.destroy();
    },
  };
}

function askRest(base: string, dispatcher: Agent): Ask {
  return async ({ method, request, headers }) => {
    const { httpMethod, target, body } = contract.write(method, fromJson(method.input, request));
    const type = body && { "content-type": body.contentType };
    const answer = await send(`${base}${target}`, {
      method: httpMethod,
      headers: { ...type, ...headers },
      body: body?.content ?? null,
      dispatcher,
    });
    const { statusCode: status } = answer;
    if (status === 200 && method.methodKind === "server_streaming") {
      const first = await answer.body[Symbol.asyncIterator]().next();
      answer.body.destroy();
      return { code: "OK", text: String(first.value) };
    }
    const text = await answer.body.text();
    const code = status < 300 ? "OK" : String(JSON.parse(text).error.status);
    return { code, text: `${status}\n${listed(answer.headers)}\n${text}` };
  };
}

/** The headers that differ between responses. */
const ownHeaders = new Set(["date", "x-request-id"]);

function listed(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  return Object.entries(headers)
    .filter(([name]) => !ownHeaders.has(name))
    .map(([name, value]) => `${name}: ${name.endsWith("-bin") ? decoded(value) : String(value)}`)
    .toSorted()
    .join("\n");
}

/** Decodes a binary header, so that ids in the header are found. */
function decoded(value: unknown): string {
  return Buffer.from(String(value), "base64").toString("latin1");
}

function askTransport(transport: Transport): Ask {
  return async ({ method, request, headers }) => {
    const message = fromJson(method.input, request);
    try {
      if (isStream(method)) return await firstOf(transport, method, message, headers);
      if (!isUnary(method)) return assert.fail(`${method.name} is neither`);
      const answer = await transport.unary(method, undefined, undefined, headers, message);
      return { code: "OK", text: jsonOf(method, answer.message) };
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      return failure(error);
    }
  };
}

async function firstOf(
  transport: Transport,
  method: DescMethodStreaming,
  message: Message,
  headers: Readonly<Record<string, string>>,
): Promise<MatrixAnswer> {
  const gone = new AbortController();
  const messages = Readable.from([message]);
  const answer = await transport.stream(method, gone.signal, undefined, headers, messages);
  const first = await answer.message[Symbol.asyncIterator]().next();
  gone.abort();
  return { code: "OK", text: first.done === true ? "" : jsonOf(method, first.value) };
}

function jsonOf(method: DescMethod, answer: Message): string {
  // The metadata of operations is not in the file of their service.
  const registry = answerTypes([method.parent, GoogleSpeech]);
  return toJsonString(method.output, answer, { registry });
}

function isStream(method: DescMethod): method is DescMethodStreaming {
  return method.methodKind !== "unary";
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function failure({ code, rawMessage, details, metadata }: ConnectError): MatrixAnswer {
  const bytes = details.map((detail) =>
    "desc" in detail
      ? assert.fail("it was not sent")
      : Buffer.from(detail.value).toString("latin1"),
  );
  const name = (Code[code] ?? "").replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase();
  const headers = listed(Object.fromEntries(metadata));
  return { code: name, text: `${code} ${rawMessage}\n${bytes.join("\n")}\n${headers}` };
}

function askWebSocket(address: string): Ask {
  return async ({ method, request, headers }) => {
    const message = fromJson(method.input, request);
    const { target } = contract.write(method, message, isSocket);
    const socket = new WebSocket(`${address.replace("http", "ws")}${target}`, { headers });
    const refused = once(socket, "unexpected-response");
    try {
      const [, response] = await Promise.race([refused, once(socket, "open")]);
      if (response === undefined) return { code: "OK", text: "" };
      const text = await textOf(response);
      const code = String(JSON.parse(text).error.status);
      return { code, text: `${response.statusCode}\n${listed(response.headers)}\n${text}` };
    } finally {
      socket.on("error", () => {}).terminate();
    }
  };
}
