import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../is-object.ts";

/** An example call in the contract: one request with its response, or the messages of a stream. */
export type ContractExample = UnaryExample | StreamExample;

export interface UnaryExample {
  readonly title: string;
  /** The request headers in addition to those of every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole request message, from which the path, query and body are created. */
  readonly request: JsonObject;
  /** The body of the response, or one message of a response stream. */
  readonly answer: JsonValue;
}

export interface StreamExample {
  readonly title: string;
  readonly stream: readonly ({ readonly send: JsonValue } | { readonly receive: JsonValue })[];
}

/** Returns the examples of a method. Throws Error if they have the wrong form. */
export type ContractExamples = (method: DescMethod) => readonly ContractExample[];

/** Reads examples. `source` contains lists of examples by the full name of the method. */
export function createExamples(source: unknown): ContractExamples {
  const byMethod = new Map<string, readonly ContractExample[]>();
  // The examples in generated code are JSON.
  const json: JsonValue = JSON.parse(JSON.stringify(source));
  for (const [method, list] of Object.entries(objectOf(json, "examples"))) {
    if (!Array.isArray(list)) throw new Error(`examples of ${method}: expected a list`);
    byMethod.set(
      method,
      list.map((one, at) => exampleOf(one, `example ${at + 1} of ${method}`)),
    );
  }
  return (method) => byMethod.get(`${method.parent.typeName}.${method.name}`) ?? [];
}

function exampleOf(json: JsonValue, place: string): ContractExample {
  const { title, headers = {}, request, answer, stream, ...rest } = objectOf(json, place);
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new Error(`${place}: unknown field ${unknown}`);
  if (typeof title !== "string") throw new Error(`${place}: it has no title`);
  if (stream !== undefined) {
    if (!Array.isArray(stream)) throw new Error(`${place}: its stream is not a list`);
    return { title, stream: stream.map((message) => messageOf(message, place)) };
  }
  if (request === undefined || answer === undefined) {
    throw new Error(`${place}: expected a request and an answer`);
  }
  const texts = Object.entries(objectOf(headers, place)).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  return { title, headers: Object.fromEntries(texts), request: objectOf(request, place), answer };
}

function messageOf(json: JsonValue, place: string): { send: JsonValue } | { receive: JsonValue } {
  const { send, receive } = objectOf(json, place);
  if (send !== undefined && receive === undefined) return { send };
  if (receive !== undefined && send === undefined) return { receive };
  throw new Error(`${place}: expected either send or receive`);
}

function objectOf(json: JsonValue, place: string): JsonObject {
  if (isObject(json)) return json;
  throw new Error(`${place}: expected an object`);
}
