import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { createMethodImplSpec, type MethodImplSpec, type ServiceImpl } from "@connectrpc/connect";

/** A service of the contract with its implementation. */
export interface ImplementedService {
  readonly service: DescService;
  readonly implementation: ServiceImpl<DescService>;
}

/** Pairs a service with its implementation, and checks that their types match. */
export function implemented<S extends DescService>(
  service: S,
  implementation: ServiceImpl<S>,
): ImplementedService {
  return { service, implementation };
}

/**
 * Every method of the services by its descriptor, with the implementation that all doors share.
 */
export type Methods = ReadonlyMap<DescMethod, MethodImplSpec>;

export function methodsOf(services: readonly ImplementedService[]): Methods {
  const methods = new Map<DescMethod, MethodImplSpec>();
  for (const { service, implementation } of services) {
    for (const method of service.methods) {
      const run = implementation[method.localName];
      if (run === undefined)
        throw new Error(`${service.typeName}.${method.name} is not implemented`);
      methods.set(method, createMethodImplSpec(method, run));
    }
  }
  return methods;
}
