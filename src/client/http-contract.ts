import type { DescMethod, DescService, Message, Registry } from "@bufbuild/protobuf";
import { createRegistry } from "@bufbuild/protobuf";
import { ServiceError } from "../std/service-error.ts";
import { type Binding, bindingsOf, type ConfiguredRule } from "../transcoding/http-rules.ts";
import { registryOf } from "../transcoding/registry-of.ts";
import { writeRequest, type WrittenRequest } from "../transcoding/write-request.ts";
import { errorDetails, errorOfService } from "./read-error.ts";

/** Maps the methods of services to HTTP calls. */
export interface HttpContract {
  /**
   * Writes a request with the first binding that can express the request and that `takes` accepts.
   * Throws ConnectError.
   */
  write(
    method: DescMethod,
    message: Message,
    takes?: (binding: Binding) => boolean,
  ): WrittenRequest;
  bindingsOf(method: DescMethod): readonly Binding[];
  /** Returns the types that a google.protobuf.Any may contain in requests and responses. */
  registryOf(service: DescService): Registry;
}

/**
 * Creates the contract. The HTTP rules of a service are read when the service is first called, and
 * `rules` replace its annotations. An invalid rule throws HttpRuleError at that time.
 */
export function createHttpContract(rules: readonly ConfiguredRule[] = []): HttpContract {
  const known = new Map<DescService, { bindings: readonly Binding[]; registry: Registry }>();
  const partsOf = (service: DescService) => {
    let parts = known.get(service);
    if (parts === undefined) {
      const registry = createRegistry(registryOf([service]), errorDetails);
      parts = { bindings: bindingsOf([service], rules), registry };
      known.set(service, parts);
    }
    return parts;
  };
  const bindingsFor = (method: DescMethod): readonly Binding[] =>
    partsOf(method.parent).bindings.filter((binding) => binding.method === method);
  return {
    bindingsOf: bindingsFor,
    registryOf: (service) => partsOf(service).registry,
    write(method, message, takes = () => true) {
      const { registry } = partsOf(method.parent);
      try {
        return writeRequest(bindingsFor(method).filter(takes), message, registry);
      } catch (error) {
        throw error instanceof ServiceError ? errorOfService(error) : error;
      }
    },
  };
}
