import type { DescFile, DescService, Registry } from "@bufbuild/protobuf";
import { createRegistry } from "@bufbuild/protobuf";

/**
 * Returns every type in the services' files and in the files that these import. By default, these
 * are the types that a google.protobuf.Any can contain.
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
