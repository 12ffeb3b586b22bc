/** All names of a field; plain data, to be sent to another thread. */
export interface FieldName {
  readonly name: string;
  readonly jsonName: string;
  readonly number: number;
}

/** A message as it was received, too long to be read on the main thread. */
export interface LongMessage {
  /** In a buffer of their own, which is transferred to the reading thread. */
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
  /** Attaches what was read of the list to the message that holds it. */
  attach(holder: object): void;
}

/** Reads the long lists of messages on threads of their own. */
export interface LongMessages {
  /**
   * Takes the list out of a message, and reads it. Throws invalid_argument for a malformed message
   * or a list past its limits, resource_exhausted if too many messages of the account wait, and the
   * signal's reason if it aborts before the message's turn.
   */
  shorten(
    message: LongMessage,
    by: { readonly accountId: string; readonly signal: AbortSignal },
  ): Promise<ShortMessage>;
}
