import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Schema } from "../../src/transcoding/openapi/document.ts";

/** Returns the errors of a value according to a schema; "" if the value is valid. */
export type SchemaChecker = (schema: Schema, value: unknown) => string;

/**
 * Creates a checker of values according to JSON Schema 2020-12. The checker is strict: an unknown
 * keyword or format is an error. `schemas` are the schemas that $ref names in components. `closed`
 * determines whether properties that are not in the schema are errors even in responses, in which
 * clients must ignore them.
 */
export function createSchemaChecker(
  schemas: Readonly<Record<string, Schema>>,
  { closed = false }: { readonly closed?: boolean } = {},
): SchemaChecker {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    strictRequired: false,
    strictTypes: false,
  });
  formats.default(ajv);
  // Formats of the OpenAPI format registry.
  ajv.addFormat("uint32", { type: "number", validate: (value) => value >= 0 && value < 2 ** 32 });
  ajv.addFormat("uint64", {
    type: "string",
    validate: (text) => isWhole(text) && BigInt(text) < 2n ** 64n,
  });
  ajv.addFormat("int64", {
    type: "string",
    validate: (text) => isWhole(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text),
  });
  for (const keyword of ["x-enumDescriptions", "x-minimum", "x-maximum"]) ajv.addKeyword(keyword);
  const prepared = (schema: object): object => {
    const text = JSON.stringify(schema).replaceAll('"#/components/schemas/', '"api#/$defs/');
    return JSON.parse(text, (_, value: unknown) => (closed ? shut(value) : value));
  };
  ajv.addSchema({ $id: "api", $defs: prepared(schemas) });
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const key = JSON.stringify(schema);
    const validate = compiled.get(key) ?? ajv.compile(prepared(schema));
    compiled.set(key, validate);
    return validate(value) ? "" : explain(validate.errors ?? [], value);
  };
}

function isWhole(text: string): boolean {
  return /^-?\d+$/.test(text);
}

/** Closes an object schema: it accepts only its own properties. */
function shut(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("properties" in value)) return value;
  return { additionalProperties: false, ...value };
}

function explain(errors: readonly ErrorObject[], value: unknown): string {
  const lines = errors.map(
    ({ instancePath, message, params }) =>
      `${instancePath || "/"} ${message} ${JSON.stringify(params)}`,
  );
  return [...lines, JSON.stringify(value)?.slice(0, 1000)].join("\n");
}
