/** A field by all that it is called; plain data, to go from thread to thread. */
export interface FieldName {
  readonly name: string;
  readonly jsonName: string;
  readonly number: number;
}

/** A message as it came, too long for the thread that carries live audio. */
export interface LongMessage {
  /** In a buffer of their own: who has the message read has them no more. */
  readonly bytes: Uint8Array;
  readonly format: "json" | "binary";
  /** The list that makes it long, from the message to it. */
  readonly path: readonly FieldName[];
  /** Whether JSON may have no field that the message has not. */
  readonly isStrict: boolean;
}

/** What is left of a long message for the thread that carries live audio. */
export interface ShortMessage {
  /** The message in its own format, with the list empty. */
  readonly rest: Uint8Array;
  /** Gives the message that holds the list what was read of it. */
  attach(holder: object): void;
}

/** Reads the long lists of messages on threads of their own. */
export interface LongMessages {
  /**
   * Takes the list out of a message, and reads it. Throws invalid_argument for what is no message
   * or more than may be sent, resource_exhausted when too many messages of the account wait, and
   * the signal's reason when it aborts before it is the message's turn.
   */
  shorten(
    message: LongMessage,
    by: { readonly accountId: string; readonly signal: AbortSignal },
  ): Promise<ShortMessage>;
}
