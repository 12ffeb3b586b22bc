import { defineLazyField } from "./lazy-field.ts";

/** A list of an answer whose JSON is written already. */
export interface WrittenField {
  /** As the message has it; so it is in JSON. */
  readonly name: string;
  readonly json: string;
}

const writtenFields = new WeakMap<object, WrittenField>();

/**
 * Lets a list of a message be sent as it was written (writtenFieldOf()), by doors that send JSON; for all others its messages are made
 * when they are asked for.
 */
export function attachWritten<T extends object, Name extends keyof T & string>(
  message: T,
  name: Name,
  json: string,
  read: () => T[Name],
): void {
  writtenFields.set(message, { name, json });
  defineLazyField(message, name, read);
}

/** The written field of a message, if it has one. */
export function writtenFieldOf(message: object): WrittenField | undefined {
  return writtenFields.get(message);
}
