import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType, toJson } from "@bufbuild/protobuf";
import { isReflectMessage } from "@bufbuild/protobuf/reflect";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { isScalarInJson } from "./field-path.ts";

/** Whether the values of a field, or the items of its list, can be in a path or a query. */
export function isLeaf(field: DescField): boolean {
  return field.message === undefined || isScalarInJson(field.message);
}

/**
 * Writes a value for a path or a query, before percent-encoding, as its proto3 JSON without quotes.
 * `value` is the reflected value of the field or of one item of its list. Throws Error for a value
 * that JSON cannot express.
 */
export function leafText(field: DescField, value: unknown): string {
  if (field.message !== undefined) return messageText(field.message, value);
  if (field.enum !== undefined) {
    const known = field.enum.values.find(({ number }) => number === value);
    return known?.jsonName ?? String(value);
  }
  if (value instanceof Uint8Array) return base64Encode(value);
  if (field.scalar === ScalarType.STRING) return wellFormed(String(value));
  // String() loses the sign of negative zero.
  return Object.is(value, -0) ? "-0" : String(value);
}

function messageText(type: DescMessage, value: unknown): string {
  if (!isReflectMessage(value)) throw new TypeError(`expected ${type.typeName}`);
  const json = toJson(type, value.message);
  if (typeof json === "string") return wellFormed(json);
  return Object.is(json, -0) ? "-0" : JSON.stringify(json);
}

function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new Error("it has an unpaired surrogate, which UTF-8 cannot express");
}
