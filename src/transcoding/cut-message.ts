import { Buffer } from "node:buffer";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { FieldName } from "../std/long-messages.ts";
import { invalidArgument, ServiceError } from "../std/service-error.ts";
import { fieldExtent, tooManyItems, type FieldExtent } from "./field-extent.ts";

/** A message that was split into a list and the rest. */
export interface CutMessage {
  /** The message in its original format, with an empty list. */
  readonly rest: Buffer;
  /**
   * The list as JSON, or as a binary message of the type that has the list, without any other
   * fields.
   */
  readonly list: Uint8Array;
  /**
   * The JSON object that contains the list, including the list itself. Lines and columns of errors
   * are counted from the start of this object.
   */
  readonly holder: Uint8Array;
}

/**
 * Cuts the list at the end of `path` out of UTF-8 JSON. Returns undefined if the position of the
 * list is not obvious (fieldExtent()). Only the brackets and commas of the list are read, so the
 * list can be invalid JSON. Throws invalid_argument for more than `itemsMax` elements.
 */
export function cutJson(
  json: Uint8Array,
  path: readonly FieldName[],
  itemsMax: number,
): CutMessage | undefined {
  let extent: FieldExtent = { start: 0, end: json.length };
  let holder = extent;
  for (const [depth, field] of path.entries()) {
    const sought = {
      names: new Set([field.name, field.jsonName]),
      kind: depth === path.length - 1 ? "list" : "object",
      itemsMax,
    } as const;
    const found = fieldExtent(json.subarray(extent.start, extent.end), sought);
    if (found === undefined) return undefined;
    holder = extent;
    extent = { start: extent.start + found.start, end: extent.start + found.end };
  }
  const { start, end } = extent;
  return {
    rest: Buffer.concat([json.subarray(0, start), Buffer.from("[]"), json.subarray(end)]),
    list: json.subarray(start, end),
    holder: json.subarray(holder.start, holder.end),
  };
}

/**
 * Cuts the list out of a binary Protobuf message. The elements of the list can be between other
 * fields, and the messages that contain them can be in several parts. Throws invalid_argument for
 * more than `itemsMax` elements and for malformed bytes.
 */
export function cutBinary(
  bytes: Uint8Array,
  path: readonly FieldName[],
  itemsMax: number,
): CutMessage {
  const cut = new BinaryCut(bytes, path.at(-1)?.name ?? "", itemsMax);
  try {
    const rest = cut.walk(0, bytes.length, path);
    return { rest, list: Buffer.concat(cut.items), holder: bytes };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidArgument([{ field: "body", description: "is not a binary Protobuf message" }]);
  }
}

class BinaryCut {
  readonly items: Uint8Array[] = [];
  readonly #bytes: Uint8Array;
  readonly #list: string;
  readonly #itemsMax: number;
  #count = 0;

  constructor(bytes: Uint8Array, list: string, itemsMax: number) {
    this.#bytes = bytes;
    this.#list = list;
    this.#itemsMax = itemsMax;
  }

  /** Returns the message from `start` to `end` without the list. */
  walk(start: number, end: number, [field, ...deeper]: readonly FieldName[]): Buffer {
    const bytes = this.#bytes.subarray(0, end);
    const reader = new BinaryReader(bytes);
    reader.pos = start;
    const kept: Uint8Array[] = [];
    let keptFrom = start;
    let itemsFrom = start;
    const takeItems = (to: number): void => {
      if (to > itemsFrom) this.items.push(bytes.subarray(itemsFrom, to));
    };
    let isAmongItems = false;
    while (reader.pos < end) {
      const at = reader.pos;
      const [number, wireType] = reader.tag();
      const isField = number === field?.number && wireType === WireType.LengthDelimited;
      const isItem = isField && deeper.length === 0;
      if (isAmongItems !== isItem) {
        if (isItem) {
          if (at > keptFrom) kept.push(bytes.subarray(keptFrom, at));
          itemsFrom = at;
        } else {
          takeItems(at);
          keptFrom = at;
        }
        isAmongItems = isItem;
      }
      if (isItem) this.#countItem();
      if (isField && !isItem) {
        if (at > keptFrom) kept.push(bytes.subarray(keptFrom, at));
        const length = reader.uint32();
        const inner = reader.pos;
        if (inner + length > end) throw new RangeError("truncated");
        kept.push(record(number, this.walk(inner, inner + length, deeper)));
        reader.pos = inner + length;
        keptFrom = reader.pos;
      } else reader.skip(wireType, number);
      if (reader.pos > end) throw new RangeError("truncated");
    }
    if (isAmongItems) takeItems(end);
    else if (end > keptFrom) kept.push(bytes.subarray(keptFrom, end));
    return Buffer.concat(kept);
  }

  #countItem(): void {
    this.#count += 1;
    if (this.#count > this.#itemsMax) throw tooManyItems(this.#list, this.#itemsMax);
  }
}

function record(number: number, message: Buffer): Buffer {
  const head: number[] = [];
  const put = (value: number): void => {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) head.push((rest % 128) | 0x80);
    head.push(rest);
  };
  put(number * 8 + WireType.LengthDelimited);
  put(message.length);
  return Buffer.concat([Buffer.from(head), message]);
}
