import { defineLazyField } from "./lazy-field.ts";

/** JSON that came with a request, and where in it the value of one field is; the bytes are UTF-8. */
export interface UnreadField {
  /** As the message has it. */
  readonly name: string;
  /** JSON of the message, all of it: where a value is wrong, lines and columns are counted from here. */
  readonly json: Uint8Array;
  /** The value of the field, a list, is from here to `end`, if it is JSON; not checked at all. */
  readonly start: number;
  readonly end: number;
}

const unreadFields = new WeakMap<object, UnreadField>();

/**
 * Leaves a field of a message unread: whoever knows it takes the JSON (unreadFieldOf()) and reads it where it disturbs nobody. For
 * everybody else it is read when it is asked for; `read` throws what is wrong with it.
 */
export function leaveUnread(message: object, field: UnreadField, read: () => unknown): void {
  unreadFields.set(message, field);
  defineLazyField(message, field.name, read);
}

/** The field that was left unread, if one was. */
export function unreadFieldOf(message: object): UnreadField | undefined {
  return unreadFields.get(message);
}
