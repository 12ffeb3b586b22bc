import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { file_transcoding, Vectors } from "../../test/gen/transcoding_pb.ts";
import { readServices } from "./read-services.ts";
import { createTranscoder } from "./transcoder.ts";

function setOf(...file: FileDescriptorProto[]): Uint8Array {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}

/** A file after those that it imports, as a descriptor set has them. */
function withImports(file = file_transcoding): FileDescriptorProto[] {
  const all = [...file.dependencies.flatMap((one) => withImports(one)), file.proto];
  return [...new Map(all.map((proto) => [proto.name, proto])).values()];
}

test("the services of a descriptor set can be served by rules of a configuration", () => {
  const { services, allServices, registry } = readServices(setOf(...withImports()));
  assert.deepEqual(services, [], "none has an annotation");
  assert.deepEqual(
    allServices.map(({ typeName }) => typeName),
    [Vectors.typeName],
  );
  assert.ok(registry.getMessage("google.protobuf.Any"));
  const rules = [{ selector: `${Vectors.typeName}.Echo`, get: "/v1/{s}" }];
  const transcoder = createTranscoder(allServices, { rules, registry });
  const routed = transcoder.route("GET", "/v1/a%20b");
  assert.equal(transcoder.write(routed.binding, transcoder.bind(routed, undefined)), '{"s":"a b"}');
});

test("comments are found by the names of nested declarations", () => {
  const proto = create(FileDescriptorSetSchema, {
    file: [
      {
        name: "a.proto",
        package: "a.v1",
        messageType: [{ name: "M", nestedType: [{ name: "N", field: [{ name: "f" }] }] }],
        enumType: [{ name: "E", value: [{ name: "E_ZERO" }] }],
        syntax: "proto3",
        sourceCodeInfo: {
          location: [
            { path: [4, 0, 3, 0, 2, 0], leadingComments: " One\n line.\n\n More.\n" },
            { path: [5, 0, 2, 0], leadingComments: " Zero.\n" },
            { path: [4, 0], leadingComments: "" },
            { path: [4, 9], leadingComments: " Of nothing." },
            { path: [12], leadingComments: " Of the syntax." },
          ],
        },
      },
    ],
  });
  const [field] = proto.file[0]?.messageType[0]?.nestedType[0]?.field ?? [];
  assert.ok(field);
  Object.assign(field, { number: 1, type: 9, label: 1, jsonName: "f" });
  const { comments } = readServices(toBinary(FileDescriptorSetSchema, proto));
  assert.deepEqual(comments, { "a.v1.M.N.f": "One\nline.\n\nMore.", "a.v1.E.E_ZERO": "Zero." });
});

test("bytes that are not a descriptor set, or lack a file, are refused", () => {
  assert.throws(() => readServices(Buffer.from("syntax")), /expected a google\.protobuf\.FileDesc/);
  assert.throws(() => readServices(new Uint8Array()), /expected at least one file, found none/);
  assert.throws(() => readServices(setOf(file_transcoding.proto)), /google\/[a-z/]*\.proto/);
});
