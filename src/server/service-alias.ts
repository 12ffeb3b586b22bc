import {
  clearExtension,
  clone,
  create,
  createFileRegistry,
  type DescService,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, ServiceDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { http } from "../gen/google/api/annotations_pb.ts";

/**
 * Returns a service with another full name for clients that were made for that name: some of the
 * methods, with the same messages and options. It has no HTTP rules, since a path belongs to one
 * method.
 */
export function serviceAlias(
  service: DescService,
  typeName: string,
  methods: readonly string[],
): DescService {
  const dot = typeName.lastIndexOf(".");
  const proto = clone(ServiceDescriptorProtoSchema, service.proto);
  proto.name = typeName.slice(dot + 1);
  proto.method = proto.method.filter(({ name }) => methods.includes(name));
  for (const { options } of proto.method) if (options) clearExtension(options, http);
  const imported = [service.file, ...service.file.dependencies];
  const file = create(FileDescriptorProtoSchema, {
    name: `${typeName.toLowerCase().replaceAll(".", "/")}.proto`,
    package: typeName.slice(0, dot),
    dependency: imported.map((one) => one.proto.name),
    service: [proto],
    syntax: "proto3",
  });
  const files = createFileRegistry(file, (name) => imported.find((one) => one.proto.name === name));
  const alias = files.getService(typeName);
  if (!alias) throw new Error(`${typeName} is not in its file`);
  return alias;
}
