import {
  toBinary,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { mapInTurns } from "./in-turns.ts";
import { defineLazyField } from "./lazy-field.ts";
import { wireList } from "./wire-list.ts";

/** A list of an answer that is written item by item, so that others have the thread in between. */
export interface WrittenField {
  /** As the message has it; so it is in JSON. */
  readonly name: string;
  json(): Promise<string>;
  /** As it stands in the message of the wire, with the number of the field before each item. */
  wire(): Promise<Uint8Array>;
}

const writtenFields = new WeakMap<object, WrittenField>();

/**
 * Lets a list of messages be sent as it is written item by item (writtenFieldOf()); for all others
 * its messages are made when they are asked for.
 */
export function attachWritten<Item, Desc extends DescMessage>(
  answer: Message,
  field: DescField,
  items: readonly Item[],
  of: {
    readonly schema: Desc;
    readonly json: (item: Item) => string;
    readonly message: (item: Item) => MessageShape<Desc>;
  },
): void {
  const { schema, json, message } = of;
  writtenFields.set(answer, {
    name: field.localName,
    json: async () => `[${(await mapInTurns(items, json)).join(",")}]`,
    wire: async () => {
      const messages = await mapInTurns(items, (item) => toBinary(schema, message(item)));
      return wireList(field.number, messages);
    },
  });
  defineLazyField(answer, field.localName, () => items.map(message));
}

/** The written field of a message, if it has one. */
export function writtenFieldOf(message: object): WrittenField | undefined {
  return writtenFields.get(message);
}
