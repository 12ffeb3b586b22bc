/** All names of a field, as plain data, which can be sent to another thread. */
export interface FieldName {
  readonly name: string;
  readonly jsonName: string;
  readonly number: number;
}

/** A message as it was received, too long to be read on the main thread. */
export interface LongMessage {
  /** The bytes, in a buffer of their own, which is transferred to the reading thread. */
  readonly bytes: Uint8Array;
  readonly format: "json" | "binary";
  /** The path from the message to the list that makes it long. */
  readonly path: readonly FieldName[];
  /** Whether unknown fields of JSON are refused. */
  readonly isStrict: boolean;
}

/** The rest of a long message, for the main thread. */
export interface ShortMessage {
  /** The message in its own format, with the list empty. */
  readonly rest: Uint8Array;
  /** Attaches the list to the message that contains it. */
  attach(holder: object): void;
}

/** Reads the long lists of messages on threads of their own. */
export interface LongMessages {
  /**
   * Removes the list from a message, and reads it. Throws invalid_argument if the message is
   * malformed or the list exceeds its limits, resource_exhausted if too many messages of the
   * account wait, and the signal's reason if it aborts before the message's turn.
   */
  shorten(
    message: LongMessage,
    by: { readonly accountId: string; readonly signal: AbortSignal },
  ): Promise<ShortMessage>;
}
