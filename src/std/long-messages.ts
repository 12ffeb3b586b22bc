/** All names of a field, as plain data that can be sent to another thread. */
export interface FieldName {
  readonly name: string;
  readonly jsonName: string;
  readonly number: number;
}

/** A received message that is too long to be read on the main thread. */
export interface LongMessage {
  /** The bytes, in their own buffer, which is transferred to the reading thread. */
  readonly bytes: Uint8Array;
  readonly format: "json" | "binary";
  /** The path from the message to the list that makes the message long. */
  readonly path: readonly FieldName[];
  /** Whether unknown fields in JSON are refused. */
  readonly isStrict: boolean;
}

/** The rest of a long message, to be read on the main thread. */
export interface ShortMessage {
  /** The message in its original format, with the list empty. */
  readonly rest: Uint8Array;
  /** Attaches the list to the message that contains it. */
  attach(holder: object): void;
}

/** Reads the long lists in messages on separate threads. */
export interface LongMessages {
  /**
   * Removes the list from a message and reads the list. Throws invalid_argument if the message is
   * malformed or the list exceeds its limits. Throws resource_exhausted if too many messages of the
   * account are waiting, and the signal's reason if the signal aborts before the message's turn.
   */
  shorten(
    message: LongMessage,
    by: { readonly accountId: string; readonly signal: AbortSignal },
  ): Promise<ShortMessage>;
}
