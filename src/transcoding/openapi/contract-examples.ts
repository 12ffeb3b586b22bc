import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../is-object.ts";

/** An example call of the contract: one request and its answer, or what goes over a stream. */
export type ContractExample = UnaryExample | StreamExample;

export interface UnaryExample {
  readonly title: string;
  /** Request headers besides those of every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole request message: path, query and body are made of it. */
  readonly request: JsonObject;
  /** What stands in the body of the answer; of a stream of answers, one of its messages. */
  readonly answer: JsonValue;
}

export interface StreamExample {
  readonly title: string;
  readonly stream: readonly ({ readonly send: JsonValue } | { readonly receive: JsonValue })[];
}

/** The examples of a method; throws Error for ones that are not written as they should be. */
export type ContractExamples = (method: DescMethod) => readonly ContractExample[];

/** `source`: lists of examples by the full name of the method. */
export function createExamples(source: unknown): ContractExamples {
  const byMethod = new Map<string, readonly ContractExample[]>();
  // What generated code holds is JSON.
  const json: JsonValue = JSON.parse(JSON.stringify(source));
  for (const [method, list] of Object.entries(objectOf(json, "examples"))) {
    if (!Array.isArray(list)) throw new Error(`examples of ${method}: a list is expected`);
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
  if (unknown !== undefined) throw new Error(`${place}: what is ${unknown}?`);
  if (typeof title !== "string") throw new Error(`${place}: it has no title`);
  if (stream !== undefined) {
    if (!Array.isArray(stream)) throw new Error(`${place}: its stream is no list`);
    return { title, stream: stream.map((message) => messageOf(message, place)) };
  }
  if (request === undefined || answer === undefined) {
    throw new Error(`${place}: a request and an answer are expected`);
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
  throw new Error(`${place}: a message is either sent or received`);
}

function objectOf(json: JsonValue, place: string): JsonObject {
  if (isObject(json)) return json;
  throw new Error(`${place}: an object is expected`);
}
