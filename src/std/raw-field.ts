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
 * A long list in a response that can be sent without creating its messages, as JSON or in the
 * Protobuf wire format. It is attached to the response (attachRawField(), rawFieldOf()). For code
 * that reads the response as a message, the field looks like any other. Its messages are created at
 * the first read.
 */
export interface RawField {
  readonly field: DescField;
  readonly json: StoredJson | WrittenJson;
  /**
   * Returns the field in the wire format, with its tag before each item. The event loop is not
   * blocked.
   */
  wire(signal: AbortSignal): Promise<Uint8Array>;
}

/** The JSON of a field as it is stored. */
export interface StoredJson {
  /** The JSON, compressed as one zstd frame. */
  readonly jsonZstd: Uint8Array;
  readonly jsonBytes: number;
  /** The uncompressed JSON; undefined if it is not in memory. */
  readonly json?: Uint8Array | undefined;
}

/** JSON that is written on request, item by item. The event loop runs between items. */
export interface WrittenJson {
  write(): Promise<string>;
}

const rawFields = new WeakMap<object, RawField>();

/** Attaches a raw field to a response. `read` creates the field's messages for other readers. */
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

/** Returns the raw field of a response, if it has one. */
export function rawFieldOf(answer: Message): RawField | undefined {
  return rawFields.get(answer);
}

/**
 * Defines a property with a value that `read` creates at the first access. The property can still
 * be assigned.
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
