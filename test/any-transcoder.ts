import assert from "node:assert/strict";
import { Vectors } from "./gen/transcoding_pb.ts";
import { ServiceError } from "../src/std/service-error.ts";
import { encodeFully, encodeKeepingSlashes } from "../src/transcoding/percent-encoding.ts";
import { createTranscoder, type Routed } from "../src/transcoding/transcoder.ts";
import fc from "fast-check";

/** Every kind of segment, variable, verb, body and method, so that any path, query and body can be tried. */
export const anyTranscoder = createTranscoder([Vectors], {
  rules: [
    {
      selector: "vectors.v1.Vectors.Echo",
      get: "/m/{s}/{i32}/{sub.name=a/**}",
      additional_bindings: [
        { get: "/q/{ou}" },
        { get: "/q" },
        { post: "/all/{name=x/*}", body: "*" },
        { post: "/all", body: "*" },
        { put: "/item", body: "item" },
        { put: "/items", body: "items" },
        { put: "/bytes", body: "by" },
        { put: "/file/{name=**}", body: "file" },
        { patch: "/sub", body: "sub" },
        { patch: "/m/{s}", body: "item" },
        { get: "/m/{s}:do" },
        { get: "/{s}/m/{name}" },
        { get: "/m/x%2Fy/{s}:a%20b" },
        { custom: { kind: "*", path: "/any/{id}:do" }, body: "*" },
        { custom: { kind: "WEBSOCKET", path: "/any/{id=**}" }, body: "*" },
      ],
    },
  ],
});

const statusOf: Readonly<Record<string, number>> = {
  invalid_argument: 400,
  not_found: 404,
  unimplemented: 405,
};

/** What a call answers, or the status it is refused with; anything else that is thrown fails the test. */
export function outcome<T>(call: () => T): T | number {
  try {
    return call();
  } catch (error) {
    assert.ok(error instanceof ServiceError, error instanceof Error ? error.stack : String(error));
    const status = statusOf[error.code];
    assert.ok(status !== undefined && (error.httpStatus ?? status) === status, error.code);
    assert.ok(error.message.length < 2000, `a message of ${error.message.length} characters`);
    return status;
  }
}

/** Its bindings, and what to put in place of their stars. */
export const bindings = fc.constantFrom(...anyTranscoder.bindings);
export const values = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }),
  fc.constantFrom(
    "1",
    "-7",
    "a",
    "x",
    "%",
    "%2F",
    "/",
    ":do",
    "a/b",
    "..",
    ".",
    "__proto__",
    "þ",
    " ",
  ),
);

/** The path of a binding with these values in place of its stars. */
export function pathOf({ path }: Routed["binding"], fills: readonly string[]): string {
  const parts = path.segments.map((segment, at) => {
    if (segment.kind === "literal") return encodeFully(segment.text);
    const fill = fills[at % fills.length] ?? "";
    return segment.kind === "*" ? encodeFully(fill) : encodeKeepingSlashes(fill);
  });
  return `/${parts.join("/")}${path.verb === "" ? "" : `:${encodeFully(path.verb)}`}`;
}
