import { getOption, hasOption, type DescMethod } from "@bufbuild/protobuf";
import { body_bytes_max } from "../gen/hlust/api/annotations_pb.ts";

/**
 * The maximum message length of a method without its own option, on every protocol. In a stream, it
 * applies to each message.
 */
export const bodyBytesMaxDefault = 1 << 20;

/**
 * Returns the maximum length of a message that a method accepts, after decompression. Call this
 * function once, because an option is decoded at each access.
 */
export function bodyBytesMaxOf(method: DescMethod): number {
  return hasOption(method, body_bytes_max)
    ? getOption(method, body_bytes_max)
    : bodyBytesMaxDefault;
}
