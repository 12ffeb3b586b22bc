import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { around, field, filled, varint } from "./payloads.ts";

/**
 * A kind of request that is hard to read, at any size. `json` or `proto` is undefined if the form
 * has no such request.
 */
export interface Shape {
  readonly name: string;
  readonly json?: (bytes: number) => Buffer;
  readonly proto?: (bytes: number) => Buffer;
}

/** Fields deeper than this need no shapes, because they are like those above them. */
const depthMax = 4;

/** Yields the shapes in which a message of a type is large, deeply nested or full of items. */
export function* shapesOf(message: DescMessage): Generator<Shape> {
  yield* anyMessage();
  yield* fieldShapes(
    message,
    { path: "", head: "{", tail: "}", wrap: (inner) => inner },
    new Set(),
  );
}

/** Yields the shapes that do not depend on the type of the message. */
function* anyMessage(): Generator<Shape> {
  yield { name: "white space", json: (bytes) => around("{", " ", "}", bytes) };
  yield { name: "an unknown list", json: (bytes) => around('{"zz":[', "0,", "0]}", bytes) };
  yield { name: "unknown objects", json: (bytes) => around('{"zz":[', "{},", "{}]}", bytes) };
  yield {
    name: "nested without end",
    json: (bytes) => around('{"zz":', "[", "", bytes),
    proto: (bytes) => filled([0x7b], bytes),
  };
  yield { name: "keys that differ", json: distinctKeys };
  yield { name: "escapes", json: (bytes) => around('{"zz":"', String.raw`\u0061`, '"}', bytes) };
  yield { name: "digits", json: (bytes) => around('{"zz":', "9", "}", bytes) };
  yield { name: "unknown fields", proto: (bytes) => filled([0x78, 0], bytes) };
  yield { name: "unknown texts", proto: (bytes) => filled([0x7a, 1, 97], bytes) };
  yield { name: "one unknown text", proto: (bytes) => field(15, Buffer.alloc(bytes - 6)) };
}

function distinctKeys(bytes: number): Buffer {
  const keys = Array.from({ length: Math.floor(bytes / 13) }, (_, at) => `"k${at.toString(36)}":0`);
  return Buffer.from(`{${keys.join(",")}}`);
}

interface Place {
  readonly path: string;
  /** The text around the field in JSON. */
  readonly head: string;
  readonly tail: string;
  /** Wraps the bytes in the binary form of the messages around it. */
  readonly wrap: (inner: Buffer) => Buffer;
}

function* fieldShapes(
  message: DescMessage,
  place: Place,
  above: ReadonlySet<string>,
): Generator<Shape> {
  if (above.has(message.typeName) || above.size >= depthMax) return;
  for (const each of message.fields) {
    const path = `${place.path}${each.name}`;
    const key = `${place.head}${JSON.stringify(each.jsonName)}:`;
    yield* shapesOfField(each, { ...place, path, head: key });
    const inner = each.message;
    if (!inner || isWellKnown(inner) || each.fieldKind === "map") continue;
    const [open, close] = each.fieldKind === "list" ? ["[{", "}]"] : ["{", "}"];
    const deeper = {
      path: `${path}.`,
      head: `${key}${open}`,
      tail: `${close}${place.tail}`,
      wrap: (content: Buffer) => place.wrap(field(each.number, content)),
    };
    yield* fieldShapes(inner, deeper, new Set([...above, message.typeName]));
  }
}

/** Yields shapes in which the field is repeated as often, or is as long, as fits. */
function* shapesOfField(of: DescField, { path, head, tail, wrap }: Place): Generator<Shape> {
  const many = [...varint((of.number << 3) | 2), 0];
  const room = 64;
  const proto = (bytes: number): Buffer => wrap(filled(many, bytes - room));
  switch (of.fieldKind) {
    case "list": {
      const one = of.listKind === "message" ? "{}" : of.listKind === "enum" ? "0" : '""';
      const json = (bytes: number): Buffer =>
        around(`${head}[`, `${one},`, `${one}]${tail}`, bytes);
      yield { name: `${path} of many empty ones`, json, proto };
      return;
    }
    case "map":
      yield {
        name: `${path} of many keys`,
        json: (bytes) =>
          Buffer.concat([Buffer.from(head), distinctKeys(bytes - 200), Buffer.from(tail)]),
        proto,
      };
      return;
    case "message":
      yield { name: `${path} again and again`, proto };
      return;
    case "scalar":
    case "enum":
      yield {
        name: `${path}, long`,
        json: (bytes) => around(`${head}"`, "a", `"${tail}`, bytes),
        proto: (bytes) => wrap(field(of.number, Buffer.alloc(bytes - room, "a"))),
      };
      yield { name: `${path}, digits`, json: (bytes) => around(head, "9", tail, bytes) };
  }
}

function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith("google.protobuf.");
}
