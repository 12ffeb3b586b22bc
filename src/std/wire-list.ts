import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Messages as a repeated field on the wire: the number of the field and a length before each. */
export function wireList(number: number, messages: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  for (const message of messages) writer.tag(number, WireType.LengthDelimited).bytes(message);
  return writer.finish();
}
