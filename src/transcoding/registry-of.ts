import type { DescFile, DescService, Registry } from "@bufbuild/protobuf";
import { createRegistry } from "@bufbuild/protobuf";

/**
 * Every type of the services' files and of what these import: what a google.protobuf.Any may hold
 * unless said otherwise.
 */
export function registryOf(services: readonly DescService[]): Registry {
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file)) return;
    files.add(file);
    file.dependencies.forEach(add);
  };
  for (const service of services) add(service.file);
  return createRegistry(...files);
}
