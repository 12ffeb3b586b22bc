import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { isScalarInJson } from "../field-path.ts";
import type { Binding } from "../http-rules.ts";
import type { Parameter, Schema } from "./document.ts";
import { isOutputOnly, isRequired } from "../field-behavior.ts";
import type { SchemaBook } from "./schema-book.ts";

/**
 * Returns the parameters that the query can have (§4.10 items 1 to 4 and 7). These are leaf fields
 * by their path in JSON names, without the fields in the path and the body. Maps, lists of messages
 * and output-only fields cannot be in the query.
 */
export function queryParameters(binding: Binding, schemas: SchemaBook): Parameter[] {
  const { body, method, variables } = binding;
  if (body === "*") return [];
  const inPath = new Set(variables.map((fields) => pathOf(fields)));
  const parameters: Parameter[] = [];
  const walk = (message: DescMessage, above: readonly DescField[]): void => {
    for (const field of message.fields) {
      const path = [...above, field];
      if (isOutputOnly(field) || inPath.has(pathOf(path))) continue;
      if (above.length === 0 && field === body) continue;
      if (isLeaf(field)) {
        parameters.push(parameterOf(path, field, schemas));
      } else if (
        field.fieldKind === "message" &&
        !above.some((one) => one.message === field.message)
      ) {
        walk(field.message, path);
      }
    }
  };
  walk(method.input, []);
  return parameters;
}

function pathOf(fields: readonly DescField[]): string {
  return fields.map(({ name }) => name).join(".");
}

function isLeaf(field: DescField): boolean {
  if (field.fieldKind === "map") return false;
  return field.message === undefined || isScalarInJson(field.message);
}

function parameterOf(path: readonly DescField[], field: DescField, schemas: SchemaBook): Parameter {
  const { description, ...schema }: Schema = schemas.field(field, "request");
  return {
    name: path.map(({ jsonName }) => jsonName).join("."),
    in: "query",
    ...(path.every(isRequired) && { required: true as const }),
    ...(description !== undefined && { description }),
    schema,
  };
}
