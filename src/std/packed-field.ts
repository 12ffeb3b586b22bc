import { defineLazyField } from "./lazy-field.ts";

/** A field of an answer that exists as JSON. */
export interface PackedField {
  /** As the message has it; so it is in JSON. */
  readonly name: string;
  /** Its JSON in one frame of zstd. */
  readonly jsonZstd: Uint8Array;
  readonly jsonBytes: number;
  /** The same, not compressed, where it is at hand. */
  readonly json?: Uint8Array | undefined;
  /**
   * As it stands in the message of the wire, with the number of the field; made where that disturbs
   * nobody.
   */
  wire(signal: AbortSignal): Promise<Uint8Array>;
}

const packedFields = new WeakMap<object, PackedField>();

/**
 * Lets a field of a message be sent as it is stored, or as bytes of the wire that are made of that
 * (packedFieldOf()); for all others it is unpacked when it is asked for.
 */
export function attachPacked<T extends object, Name extends keyof T & string>(
  message: T,
  name: Name,
  packed: Omit<PackedField, "name">,
  unpack: () => T[Name],
): void {
  packedFields.set(message, { name, ...packed });
  defineLazyField(message, name, unpack);
}

/** The packed field of a message, if it has one. */
export function packedFieldOf(message: object): PackedField | undefined {
  return packedFields.get(message);
}
