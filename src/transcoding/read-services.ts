import {
  createFileRegistry,
  createRegistry,
  type DescService,
  fromBinary,
  hasOption,
  type Registry,
} from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { http } from "../gen/google/api/annotations_pb.ts";

/** What a descriptor set declares. */
export interface DescribedServices {
  /** The services with at least one method that has the annotation google.api.http. */
  readonly services: readonly DescService[];
  /** Every service, for rules of a configuration. */
  readonly allServices: readonly DescService[];
  /** Every message, enum and extension: the types that a google.protobuf.Any can contain. */
  readonly registry: Registry;
  /**
   * The comments above declarations, by full name such as `library.v1.Book.title`. Empty if the
   * set was built without source information.
   */
  readonly comments: Readonly<Record<string, string>>;
}

/**
 * Reads a google.protobuf.FileDescriptorSet, as `buf build -o api.binpb` and
 * `protoc --include_imports --include_source_info --descriptor_set_out` write it. Throws Error if
 * the bytes are not such a set, or if a file that another one imports is missing.
 */
export function readServices(descriptorSet: Uint8Array): DescribedServices {
  const set = descriptorSetIn(descriptorSet);
  const files = createFileRegistry(set);
  const allServices = set.file.flatMap((file) => files.getFile(file.name)?.services ?? []);
  const comments: Record<string, string> = {};
  for (const file of set.file) addComments(comments, file);
  return {
    services: allServices.filter(({ methods }) => methods.some((one) => hasOption(one, http))),
    allServices,
    registry: createRegistry(...files.files),
    comments,
  };
}

function descriptorSetIn(bytes: Uint8Array) {
  try {
    const set = fromBinary(FileDescriptorSetSchema, bytes);
    if (set.file.length > 0) return set;
  } catch (error) {
    const message = "descriptor set: expected a google.protobuf.FileDescriptorSet";
    throw new Error(message, { cause: error });
  }
  throw new Error("descriptor set: expected at least one file, found none");
}

/** A declaration in a file, with the lists of what it contains, as in descriptor.proto. */
interface Declared {
  readonly name: string;
  readonly [list: string]: unknown;
}

/** The names of the lists that descriptor.proto has at each field number, by kind of parent. */
const below: Readonly<Record<string, Readonly<Record<number, readonly [string, string]>>>> = {
  file: { 4: ["messageType", "message"], 5: ["enumType", "enum"], 6: ["service", "service"] },
  message: { 2: ["field", "leaf"], 3: ["nestedType", "message"], 4: ["enumType", "enum"] },
  enum: { 2: ["value", "leaf"] },
  service: { 2: ["method", "leaf"] },
};

function addComments(comments: Record<string, string>, file: FileDescriptorProto): void {
  for (const { path, leadingComments } of file.sourceCodeInfo?.location ?? []) {
    const name = nameAt(file, path);
    if (leadingComments === "" || name === undefined) continue;
    const lines = leadingComments.split("\n").map((line) => line.replace(/^ /, "").trimEnd());
    comments[name] = lines.join("\n").trim();
  }
}

/** Returns the full name of the declaration at a path of SourceCodeInfo. */
function nameAt(file: FileDescriptorProto, path: readonly number[]): string | undefined {
  if (path.length === 0 || path.length % 2 === 1) return undefined;
  let kind = "file";
  let parent: Readonly<Record<string, unknown>> = { ...file };
  const names = file.package === "" ? [] : [file.package];
  for (let at = 0; at < path.length; at += 2) {
    const [list, next] = below[kind]?.[path[at] ?? -1] ?? [];
    const items = list === undefined ? undefined : parent[list];
    const item: unknown = Array.isArray(items) ? items[path[at + 1] ?? -1] : undefined;
    if (next === undefined || !isDeclared(item)) return undefined;
    names.push(item.name);
    parent = item;
    kind = next;
  }
  return names.join(".");
}

function isDeclared(item: unknown): item is Declared {
  return typeof item === "object" && item !== null && "name" in item;
}
