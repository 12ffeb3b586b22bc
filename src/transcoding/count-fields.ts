import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { valuesMax } from "./count-values.ts";

/**
 * The maximum depth at which messages are counted. It is greater than the depth of any message in a
 * contract, and far less than overflows a stack.
 */
const depthMax = 64;

/**
 * Counts the fields of a binary Protobuf message at all levels, without reading their values. Stops
 * at `max` + 1. Each element of a packed list counts as a field. Malformed bytes end the count, and
 * the parser reports them later.
 */
export function countFields(type: DescMessage, bytes: Uint8Array, max = valuesMax): number {
  const counting = { left: max + 1 };
  try {
    countIn(new BinaryReader(bytes), bytes.length, type, counting, 0);
  } catch {
    // The bytes are malformed, so only the fields before this position count.
  }
  return max + 1 - Math.max(0, counting.left);
}

/**
 * Counts the elements of a list at the end of a path of field numbers in a binary Protobuf message.
 * Stops at `max` + 1, or at malformed bytes.
 */
export function countElements(bytes: Uint8Array, path: readonly number[], max: number): number {
  const counting = { left: max + 1 };
  try {
    countPath(new BinaryReader(bytes), bytes.length, path, counting);
  } catch {
    // The bytes are malformed, as in countFields().
  }
  return max + 1 - counting.left;
}

function countPath(
  reader: BinaryReader,
  end: number,
  [sought, ...deeper]: readonly number[],
  counting: { left: number },
): void {
  while (reader.pos < end && counting.left > 0) {
    const [number, wireType] = reader.tag();
    const isSought = number === sought && wireType === WireType.LengthDelimited;
    if (isSought && deeper.length > 0) {
      const length = reader.uint32();
      countPath(reader, reader.pos + length, deeper, counting);
      continue;
    }
    if (isSought) counting.left -= 1;
    reader.skip(wireType, number);
  }
}

function countIn(
  reader: BinaryReader,
  end: number,
  type: DescMessage | undefined,
  counting: { left: number },
  depth: number,
): void {
  const fields = type && fieldsOf(type);
  while (reader.pos < end) {
    counting.left -= 1;
    if (counting.left <= 0) return;
    const [number, wireType] = reader.tag();
    const field = fields?.get(number);
    if (wireType === WireType.StartGroup) {
      // Our messages have no groups. To skip a group, the parser would read its content, so the
      // count exceeds the limit here.
      counting.left = 0;
      return;
    }
    if (wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
    else if (field === undefined || depth === depthMax) reader.skip(wireType, number);
    else countInside(reader, field, counting, depth);
  }
}

/** Counts the contents of a field and advances past the field. */
function countInside(
  reader: BinaryReader,
  field: DescField,
  counting: { left: number },
  depth: number,
): void {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new RangeError("truncated");
  if (field.message !== undefined && field.fieldKind !== "map") {
    countIn(reader, end, field.message, counting, depth + 1);
  } else if (field.fieldKind === "map") {
    countEntry(reader, end, field, counting, depth);
  } else if (field.fieldKind === "list" && (field.listKind === "enum" || isPackable(field))) {
    counting.left -= length;
  }
  if (counting.left > 0) reader.pos = end;
}

function isPackable(field: DescField & { fieldKind: "list" }): boolean {
  return field.listKind === "scalar" && field.packed;
}

/**
 * Counts a map entry. The entry is a message with a key (1) and a value (2), each of which can
 * occur many times.
 */
function countEntry(
  reader: BinaryReader,
  end: number,
  { message }: DescField & { fieldKind: "map" },
  counting: { left: number },
  depth: number,
): void {
  while (reader.pos < end) {
    counting.left -= 1;
    if (counting.left <= 0) return;
    const [number, wireType] = reader.tag();
    if (number !== 2 || message === undefined || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const inside = reader.uint32();
    countIn(reader, reader.pos + inside, message, counting, depth + 1);
  }
}

const fieldMaps = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(type: DescMessage): ReadonlyMap<number, DescField> {
  let fields = fieldMaps.get(type);
  if (fields === undefined) {
    fields = new Map(type.fields.map((field) => [field.number, field]));
    fieldMaps.set(type, fields);
  }
  return fields;
}
