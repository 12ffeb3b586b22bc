import assert from "node:assert/strict";
import { test } from "node:test";
import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { create, createRegistry, getOption, hasOption, toJson } from "@bufbuild/protobuf";
import { DurationSchema, FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { arbitraryMessage, wellFormedStrings } from "../../../test/fixtures/arbitrary-message.ts";
import { ItemSchema, MSchema } from "../../../test/gen/transcoding_pb.ts";
import { contract } from "../../served-services.ts";
import { createSchemaChecker } from "../../../test/openapi/schema-checker.ts";
import { runs } from "../../../test/fixtures/property-runs.ts";
import { limits } from "../../gen/hlust/api/annotations_pb.ts";
import {
  ListTranscriptJobsResponseSchema,
  TranscriptSchema,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../../std/service-error.ts";
import { isObject } from "../is-object.ts";
import { readJson } from "../read-json.ts";
import { writeJson } from "../write-response.ts";
import { createComments } from "./comments.ts";
import type { Schema } from "./document.ts";
import { scalarSchemas, wellKnownSchema } from "./scalar-schema.ts";
import { SchemaBook } from "./schema-book.ts";

const noComments = createComments({});
const registry = createRegistry(ItemSchema, MSchema);

/** Returns the schema of a message, and a checker that resolves the schema's references. */
function bookOf(write: (book: SchemaBook) => Schema, closed = true) {
  const book = new SchemaBook(noComments);
  const { value: schema, schemas } = book.finish(write(book), new Set());
  const check = createSchemaChecker(schemas, { closed });
  return { schema, schemas, check: (value: unknown) => check(schema, value) };
}

/** Every message that is a response or a request, and a message with every kind of field. */
const outputs: readonly DescMessage[] = [...distinct((method) => method.output), MSchema];
const inputs: readonly DescMessage[] = [...distinct((method) => method.input), MSchema];

function distinct(
  of: (method: (typeof contract)[number]["methods"][number]) => DescMessage,
): Set<DescMessage> {
  return new Set(contract.flatMap((service) => service.methods.map(of)));
}

/** Other tests check the bounds of numbers and the enum values of newer contracts. */
function isFree(field: DescField): boolean {
  if (field.enum !== undefined && field.enum.typeName !== "google.protobuf.NullValue") return false;
  if (!hasOption(field, limits)) return true;
  const { min, max } = getOption(field, limits);
  return min === undefined && max === undefined;
}

const options = { depth: 3, strings: wellFormedStrings, inAny: ItemSchema, takes: isFree };

test("answer() accepts everything that writeJson() writes, and describes every field of the output", () => {
  for (const type of outputs) {
    const { check } = bookOf((book) => book.answer(type));
    fc.assert(
      fc.property(arbitraryMessage(type, options), (message) => {
        assert.equal(check(JSON.parse(writeJson(type, message, registry))), "");
      }),
      { numRuns: runs(300) },
    );
    // The message has no fields set.
    assert.equal(check(JSON.parse(writeJson(type, create(type), registry))), "", type.typeName);
  }
});

test("message() for a whole answer requires exactly the fields that are written when unset fields are shown", () => {
  const { check, schema, schemas } = bookOf((book) => book.message(MSchema, "whole"));
  const written = { alwaysEmitImplicit: true, registry };
  const type: DescMessage = MSchema;
  fc.assert(
    fc.property(arbitraryMessage(MSchema, options), (message) => {
      assert.equal(check(toJson(type, message, written)), "");
    }),
    { numRuns: runs(300) },
  );
  const empty = toJson(MSchema, create(MSchema), written);
  assert.ok(isObject(empty) && schema.$ref !== undefined);
  assert.deepEqual(schemas["M"]?.required?.toSorted(), Object.keys(empty).toSorted());
});

test("answer() requires the fields that writeJson() always writes", () => {
  const rows: [type: DescMessage, json: JsonValue, isGood: boolean][] = [
    [ListTranscriptJobsResponseSchema, { jobs: [], nextPageToken: "" }, true],
    [ListTranscriptJobsResponseSchema, { nextPageToken: "" }, false],
    [TranscriptSchema, { name: "", segments: [], uri: "" }, true],
    [TranscriptSchema, { name: "", uri: "" }, false],
    [TranscriptSchema, { name: "", segments: [], uri: "", more: 1 }, false],
  ];
  for (const [type, json, isGood] of rows) {
    const { check } = bookOf((book) => book.answer(type));
    assert.equal(check(json) === "", isGood, JSON.stringify(json));
  }
});

test("message() for a request accepts the JSON of any message that has the required fields", () => {
  for (const type of inputs) {
    const { check } = bookOf((book) => book.message(type, "patch"), false);
    fc.assert(
      fc.property(arbitraryMessage(type, options), (message) => {
        const problem = check(toJson(type, message, { registry }));
        // Methods check limits and required fields, but the JSON mapping does not.
        const others = problem
          .split("\n")
          .slice(0, -1)
          .filter(
            (line) =>
              !/required property|NOT have (?:more|fewer)|allowed values|property name/.test(
                line,
              ) && !isLimitPattern(line),
          );
        assert.deepEqual(others, []);
      }),
      { numRuns: runs(300) },
    );
  }
});

/** Whether a problem is a pattern of a limit, not one of the JSON mapping. */
function isLimitPattern(line: string): boolean {
  const [, pattern] = /must match pattern "(.*)"/.exec(line) ?? [];
  return pattern !== undefined && !mappingPatterns.has(pattern);
}

const mappingPatterns = new Set(
  [
    ...Object.values(scalarSchemas),
    wellKnownSchema(DurationSchema),
    wellKnownSchema(FieldMaskSchema),
  ].map((schema) => schema?.pattern),
);

/**
 * Values that few kinds of fields accept. None of these values has a form that the mapping also
 * accepts, such as a number in quotes.
 */
const wrongs: readonly JsonValue[] = [{ a: 1 }, [[]], true, 1.5, "?"];

test("readJson() refuses every value of a type that the request schema refuses", () => {
  let refused = 0;
  for (const type of inputs) {
    const { check } = bookOf((book) => book.message(type, "patch"));
    const seed = arbitraryMessage(type, options).map((message) =>
      toJson(type, message, { registry }),
    );
    fc.assert(
      fc.property(seed, fc.nat(), fc.constantFrom(...wrongs), (json, place, wrong) => {
        const changed = replaced(json, place, wrong);
        if (!isMistyped(check(changed))) return;
        refused++;
        assert.throws(() => readJson(type, JSON.stringify(changed), registry), ServiceError);
      }),
      { numRuns: runs(300) },
    );
  }
  assert.ok(refused > 300, `${refused}`);
});

/**
 * Returns a copy in which one value is replaced: the value with number `place` among all leaves and
 * branches.
 */
function replaced(json: JsonValue, place: number, wrong: JsonValue): JsonValue {
  let count = 0;
  const places = sizeOf(json);
  const target = place % places;
  const walk = (value: JsonValue): JsonValue => {
    if (count++ === target) return wrong;
    if (Array.isArray(value)) return value.map(walk);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item)]));
  };
  return walk(json);
}

function sizeOf(json: JsonValue): number {
  const children = Array.isArray(json) ? json : isObject(json) ? Object.values(json) : [];
  return children.reduce<number>((sum, child) => sum + sizeOf(child), 1);
}

function isMistyped(problem: string): boolean {
  return /must be (?:object|array|string|boolean|integer|number)\b/.test(problem);
}

test("schema names differ for requests, patches and responses; the one with the most fields has the plain name", () => {
  const book = new SchemaBook(noComments);
  const refs = {
    whole: book.answer(TranscriptSchema),
    request: book.message(TranscriptSchema, "request"),
    patch: book.message(TranscriptSchema, "patch"),
    partial: book.message(TranscriptSchema, "answer"),
  };
  const { value, schemas } = book.finish(refs, new Set());
  assert.deepEqual(
    Object.values(value).map(({ $ref }) => $ref),
    ["Transcript", "TranscriptInput", "TranscriptPatch", "TranscriptPartial"].map(
      (name) => `#/components/schemas/${name}`,
    ),
  );
  assert.ok(Object.hasOwn(schemas, "TranscriptMetadata.FileType"));
  const taken = new SchemaBook(noComments);
  const { value: renamed } = taken.finish(taken.answer(TranscriptSchema), new Set(["Transcript"]));
  assert.equal(renamed.$ref, "#/components/schemas/hlust.transcripts.v1alpha1.Transcript");
});

test("message() refuses two members of a oneof, and names that occur only in responses", () => {
  const { check } = bookOf((book) => book.message(MSchema, "request"));
  assert.equal(check({ os: "a" }), "");
  assert.notEqual(check({ os: "a", ou: 1 }), "");
  assert.notEqual(check({ nothing: 1 }), "");
  assert.notEqual(check({ im: { a: 1 } }), "");
  assert.notEqual(check({ bm: { maybe: "x" } }), "");
});
