import { type DescEnum, type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { limits, type Limits } from "../../gen/hlust/api/annotations_pb.ts";
import { isRequired } from "../field-behavior.ts";
import type { Schema } from "./document.ts";

function limitsOf(field: DescField): Limits | undefined {
  return hasOption(field, limits) ? getOption(field, limits) : undefined;
}

/** Adds the bounds of a number, which apply to requests and responses. */
export function withBounds(field: DescField, schema: Schema): Schema {
  const { min, max } = limitsOf(field) ?? {};
  if (min === undefined && max === undefined) return schema;
  // A bounded number is never NaN or Infinity.
  const number = schema.anyOf?.[0] ?? schema;
  return {
    ...number,
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
  };
}

/**
 * Adds the other limits of a request field. `schema` is the schema of the field, or of an item of
 * its list or map.
 */
export function withLimits(field: DescField, schema: Schema): Schema {
  const { charsMax = 0, secondsMin, secondsMax, values = [], pattern = "" } = limitsOf(field) ?? {};
  const isText = schema.type === "string" && schema.contentEncoding === undefined;
  const isFreeText = isText && schema.pattern === undefined && schema.format === undefined;
  return {
    ...schema,
    ...(isFreeText && isRequired(field) && { minLength: 1 }),
    ...(charsMax > 0 && { maxLength: charsMax }),
    ...(pattern !== "" && { pattern }),
    ...(values.length > 0 && field.enum === undefined && { enum: values }),
    ...(secondsMin !== undefined && secondsMin >= 0 && { pattern: positiveDuration(secondsMax) }),
    ...(secondsMin !== undefined && { "x-minimum": `${secondsMin}s` }),
    ...(secondsMax !== undefined && { "x-maximum": `${secondsMax}s` }),
  };
}

/** Returns the pattern of a duration that is not negative, with as many digits as the maximum. */
function positiveDuration(secondsMax = 999_999_999_999): string {
  const digits = `${Math.floor(secondsMax)}`.length;
  return String.raw`^[0-9]{1,${digits}}(?:\.[0-9]{1,9})?s$`;
}

/** Adds the limits of a list or a map as a whole, for requests. */
export function withCounts(field: DescField, schema: Schema): Schema {
  const { itemsMax = 0, keyCharsMax = 0 } = limitsOf(field) ?? {};
  if (field.fieldKind === "list") return { ...schema, ...(itemsMax > 0 && { maxItems: itemsMax }) };
  const propertyNames = { ...schema.propertyNames, maxLength: keyCharsMax };
  return {
    ...schema,
    ...(itemsMax > 0 && { maxProperties: itemsMax }),
    ...(keyCharsMax > 0 && { propertyNames }),
  };
}

/** Returns the enum names that are allowed in a request field; undefined if all are allowed. */
export function acceptedNames(field: DescField, type: DescEnum): readonly string[] | undefined {
  const { values = [] } = limitsOf(field) ?? {};
  if (values.length > 0) return values;
  if (!isRequired(field)) return undefined;
  return type.values.filter(({ number }) => number !== 0).map(({ name }) => name);
}
