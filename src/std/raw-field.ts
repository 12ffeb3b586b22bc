import {
  toBinary,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { mapInTurns } from "./in-turns.ts";

/**
 * A long list of an answer that can be sent without making its messages: as JSON, or in the
 * Protobuf wire format. It is attached to the answer (attachRawField(), rawFieldOf()). To code that
 * reads the answer as a message the field looks like any other; its messages are made at the first
 * read.
 */
export interface RawField {
  readonly field: DescField;
  readonly json: StoredJson | WrittenJson;
  /**
   * The field in the wire format, with its tag before each item; made without blocking the event
   * loop.
   */
  wire(signal: AbortSignal): Promise<Uint8Array>;
}

/** The JSON of a field as it is stored. */
export interface StoredJson {
  /** The JSON, compressed as one zstd frame. */
  readonly jsonZstd: Uint8Array;
  readonly jsonBytes: number;
  /** The uncompressed JSON, if it is in memory. */
  readonly json?: Uint8Array | undefined;
}

/** JSON that is written when it is requested, item by item: the event loop runs in between. */
export interface WrittenJson {
  write(): Promise<string>;
}

const rawFields = new WeakMap<object, RawField>();

/** Attaches a raw field to an answer; `read` makes the field's messages for other readers. */
export function attachRawField(answer: Message, raw: RawField, read: () => unknown): void {
  rawFields.set(answer, raw);
  defineLazy(answer, raw.field.localName, read);
}

/** Attaches a list that is written item by item. */
export function attachRawList<Item, Desc extends DescMessage>(
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
  const raw: RawField = {
    field,
    json: { write: async () => `[${(await mapInTurns(items, json)).join(",")}]` },
    wire: async () => {
      const messages = await mapInTurns(items, (item) => toBinary(schema, message(item)));
      const writer = new BinaryWriter();
      for (const each of messages) writer.tag(field.number, WireType.LengthDelimited).bytes(each);
      return writer.finish();
    },
  };
  attachRawField(answer, raw, () => items.map(message));
}

/** The raw field of an answer, if it has one. */
export function rawFieldOf(answer: Message): RawField | undefined {
  return rawFields.get(answer);
}

/**
 * Defines a property whose value `read` makes at the first access; it can still be assigned.
 */
function defineLazy(message: object, name: string, read: () => unknown): void {
  const set = (value: unknown): void => {
    Object.defineProperty(message, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  };
  const get = (): unknown => {
    const value = read();
    set(value);
    return value;
  };
  Object.defineProperty(message, name, { get, set, enumerable: true, configurable: true });
}
