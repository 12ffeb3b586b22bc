import { createRegistry, type DescService, type Registry } from "@bufbuild/protobuf";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { registryOf } from "../transcoding/registry-of.ts";

/**
 * Returns the types that an Any in an answer of the services can have: the details of a
 * google.rpc.Status, such as the error of a job, and the types in the files of the services, such
 * as the response of a google.longrunning.Operation.
 */
export function answerTypes(services: readonly DescService[]): Registry {
  return createRegistry(file_google_rpc_error_details, registryOf(services));
}
