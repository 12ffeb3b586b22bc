import type {
  DescEnum,
  DescField,
  DescMessage,
  DescOneof,
  JsonObject,
  JsonValue,
  Registry,
} from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { isReflectMessage } from "@bufbuild/protobuf/reflect";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { shown } from "../std/service-error.ts";
import { isObject } from "./is-object.ts";
import type { JsonReport } from "./json-report.ts";
import { isOutputOnly } from "./field-behavior.ts";
import {
  bytesOfBase64,
  type Expected,
  expectedDuration,
  expectedFieldMask,
  expectedTimestamp,
  expectedMapKey,
  scalarChecks,
} from "./json-scalars.ts";

/** Sets the bytes that were removed from the JSON, in the message created from that JSON. */
export type FillBytes = (message: ReflectMessage) => void;

/**
 * Checks JSON against the proto3 JSON mapping of a message and reports every violation. Changes
 * `value`: the base64 of bytes fields is replaced by "", and members of a oneof that are unset, or
 * that only the service sets and that are given with another member, are removed.
 * The returned function sets the decoded bytes in the converted message.
 */
export function checkMessageJson(
  message: DescMessage,
  value: JsonValue,
  report: JsonReport,
): FillBytes | undefined {
  return messageCheck(message)(value, report);
}

/**
 * Does the same for one field. `holder` contains the value of the field under its JSON name. The
 * returned function accepts the message that has the field.
 */
export function checkFieldJson(
  field: DescField,
  holder: JsonObject,
  report: JsonReport,
): FillBytes | undefined {
  return checkMember(memberOf(field), holder, field.jsonName, report);
}

/**
 * Checks a value. The returned function accepts the message of the value or, for a list or a map,
 * the message that has the field.
 */
type Check = (value: JsonValue, report: JsonReport) => FillBytes | undefined;

interface Member {
  readonly field: DescField;
  readonly check: Check;
  /** Whether null is a value of the field's type instead of meaning "unset". */
  readonly takesNull: boolean;
}

const memberMaps = new WeakMap<DescMessage, ReadonlyMap<string, Member>>();

function membersOf(message: DescMessage): ReadonlyMap<string, Member> {
  let members = memberMaps.get(message);
  if (members === undefined) {
    const all = message.fields.map(memberOf);
    members = new Map([
      ...all.map((member): [string, Member] => [member.field.name, member]),
      ...all.map((member): [string, Member] => [member.field.jsonName, member]),
    ]);
    memberMaps.set(message, members);
  }
  return members;
}

function memberOf(field: DescField): Member {
  const singular = field.fieldKind !== "list" && field.fieldKind !== "map";
  return { field, check: fieldCheck(field), takesNull: singular && takesNull(field) };
}

function takesNull(field: DescField): boolean {
  return (
    field.message?.typeName === "google.protobuf.Value" ||
    field.enum?.typeName === "google.protobuf.NullValue"
  );
}

function fieldCheck(field: DescField): Check {
  if (field.fieldKind === "list") return listCheck(field);
  return field.fieldKind === "map" ? mapCheck(field) : valueCheck(field);
}

/** Returns the check for the field's value, or for one item of its list or map. */
function valueCheck(field: DescField): Check {
  if (field.message !== undefined) return messageCheck(field.message);
  if (field.enum !== undefined) return plain(enumCheck(field.enum));
  return plain(scalarChecks[field.scalar]);
}

function plain(expected: (value: JsonValue) => Expected): Check {
  return (value, report) => {
    const problem = expected(value);
    if (problem !== undefined) report.add(`expected ${problem}, found ${shown(value)}`);
    return undefined;
  };
}

function enumCheck(type: DescEnum): (value: JsonValue) => Expected {
  const names = new Set(type.values.flatMap((value) => [value.name, value.jsonName]));
  const accepted = `one of ${type.values.map((value) => value.name).join(", ")}`;
  return (value) => {
    if (typeof value === "string" && names.has(value)) return undefined;
    if (typeof value === "number" && value === (value | 0)) return undefined;
    return value === null && type.typeName === "google.protobuf.NullValue" ? undefined : accepted;
  };
}

function messageCheck(message: DescMessage): Check {
  if (isWrapperDesc(message)) return valueCheck(message.fields[0]);
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return plain(expectedTimestamp);
    case "google.protobuf.Duration":
      return plain(expectedDuration);
    case "google.protobuf.FieldMask":
      return plain(expectedFieldMask);
    case "google.protobuf.Struct":
      return plain((value) => (isObject(value) ? undefined : "an object"));
    case "google.protobuf.ListValue":
      return plain((value) => (Array.isArray(value) ? undefined : "a list"));
    case "google.protobuf.Value":
      return () => undefined;
    case "google.protobuf.Any":
      return (value, report) =>
        plain((value) => expectedAny(value, report.registry))(value, report);
    default:
      return (value, report) => checkMembers(message, value, report);
  }
}

/** Checks only the form of an Any. The library checks the content when it packs the Any. */
function expectedAny(value: JsonValue, registry: Registry | undefined): Expected {
  if (!isObject(value)) return "an object";
  if (Object.keys(value).length === 0) return undefined;
  const url = Object.hasOwn(value, "@type") ? value["@type"] : undefined;
  if (typeof url !== "string") return 'an object with "@type"';
  const known = registry?.getMessage(url.slice(url.lastIndexOf("/") + 1));
  return known === undefined ? 'an "@type" that is known here' : undefined;
}

function checkMembers(
  message: DescMessage,
  value: JsonValue,
  report: JsonReport,
): FillBytes | undefined {
  if (!isObject(value)) {
    report.add(`expected an object, found ${shown(value)}`);
    return undefined;
  }
  const members = membersOf(message);
  const fills: FillBytes[] = [];
  let oneofs: Map<DescOneof, { readonly name: string; readonly field: DescField }> | undefined;
  for (const name of Object.keys(value)) {
    if (report.isFull) break;
    const member = members.get(name);
    if (member === undefined) {
      if (!report.ignoresUnknown) report.add(`${message.name} has no such field`, name);
      continue;
    }
    const { jsonName, oneof } = member.field;
    if (name !== jsonName && Object.hasOwn(value, jsonName) && members.get(jsonName) === member) {
      report.add(`given twice, also as ${name}`, jsonName);
    }
    if (oneof !== undefined) {
      if (value[name] === null && !member.takesNull) {
        delete value[name];
        continue;
      }
      oneofs ??= new Map();
      const other = oneofs.get(oneof);
      if (other !== undefined) {
        // Callers may send back a member that only the service sets. Next to their own, it is
        // ignored once it is checked.
        if (isOutputOnly(member.field)) {
          checkMember(member, value, name, report);
          delete value[name];
          continue;
        }
        if (isOutputOnly(other.field)) delete value[other.name];
        else report.add(`cannot be given together with ${other.field.jsonName}`, jsonName);
      }
      oneofs.set(oneof, { name, field: member.field });
    }
    const fill = checkMember(member, value, name, report);
    if (fill !== undefined) fills.push(fill);
  }
  return together(fills);
}

function together(fills: readonly FillBytes[]): FillBytes | undefined {
  if (fills.length === 0) return undefined;
  return (message) => {
    for (const fill of fills) fill(message);
  };
}

function checkMember(
  { field, check, takesNull }: Member,
  holder: JsonObject,
  name: string,
  report: JsonReport,
): FillBytes | undefined {
  const value = holder[name] ?? null;
  if (value === null && !takesNull) return undefined;
  // Long audio is decoded here, which is much faster than in the library. The library still decodes
  // bytes in lists and maps.
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.BYTES) {
    const bytes = typeof value === "string" ? bytesOfBase64(value) : undefined;
    if (bytes !== undefined) {
      holder[name] = "";
      return (message) => message.set(field, bytes);
    }
  }
  const from = report.violations.length;
  const fill = check(value, report);
  if (report.violations.length > from) report.prefix(from, field.jsonName);
  if (fill === undefined || field.fieldKind !== "message") return fill;
  return (message) => fill(message.get(field));
}

function listCheck(field: DescField & { fieldKind: "list" }): Check {
  const check = valueCheck(field);
  const nullItems = takesNull(field);
  return (value, report) => {
    if (!Array.isArray(value)) {
      report.add(`expected a list, found ${shown(value)}`);
      return undefined;
    }
    const fills: FillBytes[] = [];
    for (const [index, item] of value.entries()) {
      if (report.isFull) break;
      const from = report.violations.length;
      const fill = checkItem(item, check, nullItems, report);
      if (report.violations.length > from) report.prefix(from, `[${index}]`);
      if (fill !== undefined)
        fills.push((message) => fillItem(fill, message.get(field).get(index)));
    }
    return together(fills);
  };
}

function mapCheck(field: DescField & { fieldKind: "map" }): Check {
  const check = valueCheck(field);
  const nullItems = takesNull(field);
  return (value, report) => {
    if (!isObject(value)) {
      report.add(`expected an object, found ${shown(value)}`);
      return undefined;
    }
    const fills: FillBytes[] = [];
    for (const key of Object.keys(value)) {
      if (report.isFull) break;
      const from = report.violations.length;
      const problem = expectedMapKey(field.mapKey, key);
      if (problem !== undefined) report.add(`expected ${problem}, found ${shown(key)} as key`);
      const fill = checkItem(value[key] ?? null, check, nullItems, report);
      if (report.violations.length > from) report.prefix(from, `[${shown(key)}]`);
      if (fill !== undefined) {
        fills.push((message) => fillItem(fill, message.get(field).get(mapKeyOf(field, key))));
      }
    }
    return together(fills);
  };
}

function checkItem(
  item: JsonValue,
  check: Check,
  takesNull: boolean,
  report: JsonReport,
): FillBytes | undefined {
  if (item !== null || takesNull) return check(item, report);
  report.add("must not be null");
  return undefined;
}

function fillItem(fill: FillBytes, item: unknown): void {
  if (isReflectMessage(item)) fill(item);
}

/** Returns a map key as the library stores it, in the type of the key. */
function mapKeyOf({ mapKey }: DescField & { fieldKind: "map" }, key: string): unknown {
  if (mapKey === ScalarType.STRING) return key;
  if (mapKey === ScalarType.BOOL) return key === "true";
  return longTypes.has(mapKey) ? BigInt(key) : Number(key);
}

const longTypes: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
]);
