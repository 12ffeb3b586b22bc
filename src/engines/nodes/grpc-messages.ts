import { type DescField, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FramesSchema } from "../../gen/hlust/engine/v1/engine_pb.ts";
import { messageBytesMax } from "./node-protocol.ts";

/** A message of gRPC as it is sent: its prefix and its bytes, in parts that are not copied. */
export type GrpcMessage = readonly Uint8Array[];

/** Whether it is compressed (8 bits), and the length (32 bits, big-endian). */
const prefixBytes = 5;

function withPrefix(parts: readonly Uint8Array[]): GrpcMessage {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(
    parts.reduce((sum, { length }) => sum + length, 0),
    1,
  );
  return [prefix, ...parts];
}

/** Encodes a message. */
export function grpcMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): GrpcMessage {
  return withPrefix([toBinary(schema, message)]);
}

const { process: processField, frames: framesField } = FramesSchema.field;

/**
 * Encodes a message whose only field is `field`, with the frames of a process (Frames). The bytes
 * of the frames are not copied.
 */
export function framesMessage(field: DescField, process: number, frames: Uint8Array): GrpcMessage {
  const own = new BinaryWriter()
    .tag(processField.number, WireType.Varint)
    .uint32(process)
    .tag(framesField.number, WireType.LengthDelimited)
    .uint32(frames.length)
    .finish();
  const head = new BinaryWriter()
    .tag(field.number, WireType.LengthDelimited)
    .uint32(own.length + frames.length)
    .raw(own)
    .finish();
  return withPrefix([head, frames]);
}

/** Reads the messages of gRPC from chunks of a stream. */
export class GrpcMessageReader {
  #parts: Buffer[] = [];
  #length = 0;
  /** The bytes that the next message needs, as far as they are known. */
  #needed = prefixBytes;

  /** Yields the bytes of the messages that this chunk completes. Throws if they are none. */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#length);
    let at = 0;
    this.#needed = prefixBytes;
    while (bytes.length - at >= prefixBytes) {
      if (bytes[at] !== 0) throw new Error("it sent a compressed message");
      const length = bytes.readUInt32BE(at + 1);
      if (length > messageBytesMax) {
        throw new Error(`a message has ${length} bytes; at most ${messageBytesMax} are allowed`);
      }
      const end = at + prefixBytes + length;
      if (end > bytes.length) {
        this.#needed = prefixBytes + length;
        break;
      }
      yield bytes.subarray(at + prefixBytes, end);
      at = end;
    }
    const rest = bytes.subarray(at);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#length = rest.length;
  }
}
