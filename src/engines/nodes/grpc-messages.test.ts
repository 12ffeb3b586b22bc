import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { type ServeRequest, ServeRequestSchema } from "../../gen/hlust/engine/v1/engine_pb.ts";
import { framesMessage, grpcMessage, GrpcMessageReader } from "./grpc-messages.ts";
import { messageBytesMax } from "./node-protocol.ts";

const framesOf = (process: number, frames: Uint8Array<ArrayBuffer>) =>
  create(ServeRequestSchema, { message: { case: "frames", value: { process, frames } } });

const anyMessage = fc.oneof(
  fc.record({ process: fc.nat(), length: fc.nat(5_000) }).map(({ process, length }) => {
    const frames = new Uint8Array(length).fill(process);
    const bytes = framesMessage(ServeRequestSchema.field.frames, process, frames);
    return { message: framesOf(process, frames), bytes };
  }),
  fc.nat().map((number) => {
    const message = create(ServeRequestSchema, { message: { case: "beat", value: { number } } });
    return { message, bytes: grpcMessage(ServeRequestSchema, message) };
  }),
);

test("messages are read as they were sent, however the stream is cut", () => {
  fc.assert(
    fc.property(
      fc.array(anyMessage),
      fc.array(fc.integer({ min: 1, max: 3_000 })),
      (sent, cuts) => {
        const stream = Buffer.concat(sent.flatMap(({ bytes }) => bytes));
        const reader = new GrpcMessageReader();
        const found: ServeRequest[] = [];
        for (let at = 0; at < stream.length;) {
          const end = at + (cuts.shift() ?? stream.length);
          for (const bytes of reader.push(stream.subarray(at, end))) {
            found.push(fromBinary(ServeRequestSchema, bytes));
          }
          at = end;
        }
        assert.deepEqual(
          found.map((each) => toBinary(ServeRequestSchema, each)),
          sent.map(({ message }) => toBinary(ServeRequestSchema, message)),
        );
      },
    ),
  );
});

test("a message that is compressed, or too long, is refused before it has come", () => {
  const read = (bytes: Buffer) => Array.from(new GrpcMessageReader().push(bytes));
  assert.throws(() => read(Buffer.from([1, 0, 0, 0, 9])), /a compressed message/);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(messageBytesMax + 1, 1);
  assert.throws(() => read(prefix), /has 20971521 bytes; at most 20971520 are allowed/);
  prefix.writeUInt32BE(messageBytesMax, 1);
  assert.deepEqual(read(prefix), []);
});
