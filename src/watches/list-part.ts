/** A resource that is to be sent, with the length of its stored metadata. */
export interface Sized {
  readonly id: string;
  readonly bytes: number;
}

/** The maximum number of resources in one message. */
export const partItemsMax = 100;
/** A message ends with the resource that brings its metadata to this number of bytes. */
const partBytesMax = 256 << 10;
/** The memory for a resource in addition to its metadata. */
const itemBytes = 1_000;

/**
 * One message of a watch: what is to be read for it. Watches of the same list share the part, and
 * so the message.
 */
export class ListPart<Message> {
  readonly found: readonly Sized[];
  /** The ids of resources that are not in the list any more. */
  readonly removed: readonly string[];
  readonly bytes: number;
  readonly #read: () => Promise<Message>;
  #message: Promise<Message> | undefined;

  constructor(
    found: readonly Sized[],
    removed: readonly string[],
    read: (ids: readonly string[], removed: readonly string[]) => Promise<Message>,
  ) {
    this.found = found;
    this.removed = removed;
    this.bytes = found.reduce((sum, { bytes }) => sum + bytes + itemBytes, removed.length * 100);
    this.#read = () =>
      read(
        found.map(({ id }) => id),
        removed,
      );
  }

  /** Reads the newest state of the resources, once for all watches. A failed read is repeated. */
  async message(): Promise<Message> {
    const reading = (this.#message ??= this.#read());
    try {
      return await reading;
    } catch (error) {
      if (this.#message === reading) this.#message = undefined;
      throw error;
    }
  }
}

/** Divides resources into messages of limited size, in order. */
export function* divided(found: readonly Sized[]): Generator<readonly Sized[]> {
  let part: Sized[] = [];
  let bytes = 0;
  for (const each of found) {
    part.push(each);
    bytes += each.bytes;
    if (part.length < partItemsMax && bytes < partBytesMax) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}
