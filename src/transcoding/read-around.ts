import { isUtf8 } from "node:buffer";
import type { DescField, DescMessage, JsonValue, Message, Registry } from "@bufbuild/protobuf";
import { ServiceError } from "../std/service-error.ts";
import { leaveUnread, type UnreadField } from "../std/unread-field.ts";
import { checkValues } from "./check-values.ts";
import { fieldExtent, lastFieldExtent, type FieldExtent } from "./field-extent.ts";
import { parseJson, textOfUtf8 } from "./json-text.ts";
import { readJson } from "./read-json.ts";

/** Shorter bodies are read whole: it takes less than half a millisecond for each 10 kB. */
const unreadBytesMin = 64 << 10;

/** Whether a list that was left unread is where readAround() has taken it to be: to be asked where it is no JSON by itself. */
export function isListAt(
  type: DescMessage,
  { json, start, end }: Pick<UnreadField, "json" | "start" | "end">,
): boolean {
  const lazy = lazyListOf(type);
  const extent = lazy && fieldExtent(json, lazy.names);
  return extent?.start === start && extent.end === end;
}

/** A body read but for one list. */
export interface AroundList {
  /** With the list empty. */
  readonly json: JsonValue;
  /** Gives the message of this JSON the list, unread. */
  leaveUnread(message: Message): void;
}

/**
 * Reads a long body but for the list that its message has as a lazy field ([lazy = true]). undefined where there is none, or anything
 * about the body is out of the ordinary: then it is to be read whole, and errors have their true line and column. Throws invalid_argument where it is too
 * much to be read whole.
 */
export function readAround(
  type: DescMessage,
  body: Uint8Array,
  registry: Registry,
): AroundList | undefined {
  if (body.length < unreadBytesMin) return undefined;
  const lazy = lazyListOf(type);
  if (lazy === undefined || !isUtf8(body)) return undefined;
  const { field, names, isOnlyList } = lazy;
  const last = isOnlyList ? lastFieldExtent(body, names) : undefined;
  const extent = last ?? fieldExtent(body, names);
  const json = extent && jsonAround(body, extent, field.jsonName);
  if (extent === undefined || json === undefined) {
    checkValues(body, field.jsonName);
    return undefined;
  }
  const unread = { name: field.localName, json: body, ...extent };
  return {
    json,
    leaveUnread: (message) => {
      leaveUnread(message, unread, () =>
        Reflect.get(readJson(type, body, registry), field.localName),
      );
    },
  };
}

function jsonAround(body: Uint8Array, { start, end }: FieldExtent, list: string) {
  const around = Buffer.concat([body.subarray(0, start), Buffer.from("[]"), body.subarray(end)]);
  checkValues(around, list);
  return jsonIn(around);
}

function jsonIn(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(textOfUtf8(bytes));
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

interface LazyList {
  readonly field: DescField;
  readonly names: ReadonlySet<string>;
  /** No other field of the message is a list in JSON: a bracket at the end of a valid body is that of this one. */
  readonly isOnlyList: boolean;
}

const lazyLists = new WeakMap<DescMessage, LazyList | undefined>();

function lazyListOf(type: DescMessage): LazyList | undefined {
  if (!lazyLists.has(type)) {
    const field = type.fields.find(
      ({ fieldKind, proto }) => fieldKind === "list" && proto.options?.lazy === true,
    );
    const names = new Set([field?.name ?? "", field?.jsonName ?? ""]);
    const isOnlyList = type.fields.every((other) => other === field || !isListInJson(other));
    lazyLists.set(type, field && { field, names, isOnlyList });
  }
  return lazyLists.get(type);
}

function isListInJson({ fieldKind, message }: DescField): boolean {
  return fieldKind === "list" || /^google\.protobuf\.(?:List)?Value$/.test(message?.typeName ?? "");
}
