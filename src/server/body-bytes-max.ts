import { getOption, hasOption, type DescMethod } from "@bufbuild/protobuf";
import { body_bytes_max } from "../gen/hlust/api/annotations_pb.ts";

/**
 * Longest message of a method that says nothing else, on every protocol; on streams each of them.
 */
export const bodyBytesMaxDefault = 1 << 20;

/**
 * Longest message that a method takes, decompressed. To be asked once: an option is decoded each
 * time.
 */
export function bodyBytesMaxOf(method: DescMethod): number {
  return hasOption(method, body_bytes_max)
    ? getOption(method, body_bytes_max)
    : bodyBytesMaxDefault;
}
