import {
  create,
  fromJson,
  ScalarType,
  type DescField,
  type DescMessage,
  type Message,
} from "@bufbuild/protobuf";
import { reflect, reflectList, reflectMap, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import {
  anyPack,
  AnySchema,
  DurationSchema,
  isWrapperDesc,
  ListValueSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";

export interface ArbitraryMessageOptions {
  /** How deep messages stand in messages. */
  readonly depth: number;
  readonly strings: fc.Arbitrary<string>;
  /** What a google.protobuf.Any holds. */
  readonly inAny: DescMessage;
  /** Fields that may be set. Default: all. */
  readonly takes?: (field: DescField) => boolean;
}

/** Any value of a message, by its descriptor: a few of its fields, with the values that are hard on encodings. */
export function arbitraryMessage(
  type: DescMessage,
  options: ArbitraryMessageOptions,
): fc.Arbitrary<Message> {
  const known = wellKnown(type, options);
  if (known !== undefined) return known;
  const fields = type.fields.filter((field) => {
    const isDeep = field.message !== undefined && options.depth === 0;
    return !isDeep && (options.takes?.(field) ?? true);
  });
  return fc.subarray(fields, { maxLength: Math.min(5, fields.length) }).chain((chosen) =>
    fc.tuple(...chosen.map((field) => arbitraryField(field, options))).map((setters) => {
      const message = reflect(type, create(type), unchecked);
      for (const set of setters) set(message);
      return message.message;
    }),
  );
}

/** Strings that are well-formed, of every plane, and those that paths and queries stumble over. */
export const wellFormedStrings: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.string({ maxLength: 8 }),
  fc.constantFrom("", ".", "..", "/", "a/b", "//", "%", "%2F", "%2f", "a%2Fb", "+", " ", "&=#?;:@"),
  fc.constantFrom(
    "!'()*~-_.",
    "𝒜é第",
    "\u0000\n\r",
    "\u2028",
    "a:cancel",
    "__proto__",
    "\ufeff",
    "\\",
  ),
);

/** The same, with lone surrogates. */
export const anyStrings: fc.Arbitrary<string> = fc.oneof(
  { weight: 9, arbitrary: wellFormedStrings },
  { weight: 1, arbitrary: fc.constantFrom("\ud800", "a\udfff", "\udc00\ud800") },
);

/** So that strings may have lone surrogates, as a caller's may. */
const unchecked = false;

type Setter = (message: ReflectMessage) => void;

function arbitraryField(field: DescField, options: ArbitraryMessageOptions): fc.Arbitrary<Setter> {
  const value = arbitraryValue(field, options);
  if (field.fieldKind === "list") {
    return fc.array(value, { maxLength: 3 }).map((items) => (message) => {
      const list = reflectList(field, [], unchecked);
      for (const item of items) list.add(item);
      message.set(field, list);
    });
  }
  if (field.fieldKind === "map") {
    const entry = fc.tuple(arbitraryKey(field.mapKey, options), value);
    return fc.array(entry, { maxLength: 3 }).map((entries) => (message) => {
      const map = reflectMap(field, {}, unchecked);
      for (const [key, item] of entries) map.set(key, item);
      message.set(field, map);
    });
  }
  return value.map((one) => (message) => {
    message.set(field, one);
  });
}

/** A value of the field, or of one item of it, as reflection takes it. */
function arbitraryValue(field: DescField, options: ArbitraryMessageOptions): fc.Arbitrary<unknown> {
  const type = field.message;
  if (type !== undefined) {
    const below = { ...options, depth: options.depth - 1 };
    return arbitraryMessage(type, below).map((message) => reflect(type, message, unchecked));
  }
  if (field.enum !== undefined) {
    const numbers = field.enum.values.map(({ number }) => number);
    const isNull = field.enum.typeName === "google.protobuf.NullValue";
    return fc.constantFrom(...numbers, ...(isNull ? [] : [77, -(2 ** 31)]));
  }
  return scalars(field.scalar ?? ScalarType.STRING, options.strings);
}

function scalars(type: ScalarType, strings: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  return type === ScalarType.STRING ? strings : numbers[type];
}

const int32 = fc.oneof(fc.integer(), fc.constantFrom(0, -(2 ** 31), 2 ** 31 - 1));
const uint32 = fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 32 - 1));
const int64 = whole64(-(2n ** 63n), 2n ** 63n - 1n);
const uint64 = whole64(0n, 2n ** 64n - 1n);

function whole64(min: bigint, max: bigint): fc.Arbitrary<bigint> {
  return fc.oneof(fc.bigInt(min, max), fc.constantFrom(0n, min, max));
}

const numbers: Readonly<Record<Exclude<ScalarType, ScalarType.STRING>, fc.Arbitrary<unknown>>> = {
  [ScalarType.BYTES]: fc.uint8Array({ maxLength: 9 }),
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.DOUBLE]: fc.oneof(
    fc.double(),
    fc.constantFrom(-0, Number.NaN, 1e21, 5e-324, -Infinity),
  ),
  [ScalarType.FLOAT]: fc.oneof(fc.float(), fc.constantFrom(-0, Number.NaN, Infinity)),
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};

function arbitraryKey(
  type: ScalarType,
  { strings }: ArbitraryMessageOptions,
): fc.Arbitrary<string | number | boolean> {
  if (type === ScalarType.BOOL) return fc.boolean();
  return type === ScalarType.STRING ? strings : fc.integer();
}

/** Messages with a JSON form of their own, of which not every value has one. */
function wellKnown(
  type: DescMessage,
  options: ArbitraryMessageOptions,
): fc.Arbitrary<Message> | undefined {
  if (isWrapperDesc(type)) {
    const [field] = type.fields;
    return arbitraryField(field, options).map((set) => {
      const message = reflect(type, create(type), unchecked);
      set(message);
      return message.message;
    });
  }
  const nanos = fc.constantFrom(0, 1, 120_000_000, 999_999_999);
  const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
  switch (type.typeName) {
    case "google.protobuf.Timestamp":
      return fc
        .tuple(fc.bigInt(-62_135_596_800n, 253_402_300_799n), nanos)
        .map(([seconds, nanos]) => create(TimestampSchema, { seconds, nanos }));
    case "google.protobuf.Duration":
      return fc
        .tuple(fc.bigInt(-315_575_999_999n, 315_575_999_999n), nanos)
        .map(([seconds, nanos]) =>
          create(DurationSchema, { seconds, nanos: seconds < 0n ? 0 - nanos : nanos }),
        );
    case "google.protobuf.FieldMask":
      return fc
        .array(fc.constantFrom("s", "display_name", "sub.item.text"), { maxLength: 3 })
        .map((paths) => create(type, { paths }));
    case "google.protobuf.Struct":
      return fc.dictionary(fc.string(), json).map((value) => fromJson(StructSchema, value));
    case "google.protobuf.Value":
      return json.map((value) => fromJson(ValueSchema, value));
    case "google.protobuf.ListValue":
      return fc.array(json).map((value) => fromJson(ListValueSchema, value));
    case "google.protobuf.Any": {
      const { inAny } = options;
      return fc.oneof(
        fc.constant(create(AnySchema)),
        arbitraryMessage(inAny, { ...options, depth: 1 }).map((inner) => anyPack(inAny, inner)),
      );
    }
    default:
      return undefined;
  }
}
