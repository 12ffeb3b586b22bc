import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { FieldName } from "../std/long-messages.ts";

/** The path from a message through its message fields to a list that is marked as lazy. */
export interface LazyPath {
  readonly names: readonly FieldName[];
  /** Returns the message that directly contains the list, inside a message of the type. */
  holderOf(message: Message): object | undefined;
}

/**
 * Finds the list with [lazy = true] in a message, or in a message that is one of its fields. Such a
 * list can be far longer than the rest of the message, and is parsed on another thread.
 */
export function lazyPathOf(type: DescMessage): LazyPath | undefined {
  const own = lazyListIn(type);
  if (own) return { names: [nameOf(own)], holderOf: (message) => message };
  for (const field of type.fields) {
    if (field.fieldKind !== "message" || field.oneof !== undefined) continue;
    const list = lazyListIn(field.message);
    if (list === undefined) continue;
    return {
      names: [nameOf(field), nameOf(list)],
      holderOf: (message) => {
        const holder: unknown = Reflect.get(message, field.localName);
        return typeof holder === "object" && holder !== null ? holder : undefined;
      },
    };
  }
  return undefined;
}

function lazyListIn({ fields }: DescMessage): DescField | undefined {
  return fields.find(({ fieldKind, proto }) => fieldKind === "list" && proto.options?.lazy);
}

function nameOf({ name, jsonName, number }: DescField): FieldName {
  return { name, jsonName, number };
}
