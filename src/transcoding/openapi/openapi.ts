import type { DescMethod, DescService, Registry } from "@bufbuild/protobuf";
import type { Binding } from "../http-rules.ts";
import { createComments } from "./comments.ts";
import { createExamples } from "./contract-examples.ts";
import {
  type OpenApiDocument,
  type Operation,
  type PathItem,
  type PathItemMethod,
  pathItemMethods,
  type SecurityScheme,
  type Tag,
} from "./document.ts";
import { type Failures, sharedResponses } from "./failures.ts";
import { openApiPath, shapeOf } from "./openapi-path.ts";
import { needsSocket, operationOf, type OperationParts } from "./operation.ts";
import { SchemaBook } from "./schema-book.ts";

export interface OpenApiParts {
  readonly info: OpenApiDocument["info"];
  /** The base URL of the service, without a trailing slash. */
  readonly url: string;
  /** The comments of the contract by full name. */
  readonly comments: Readonly<Record<string, string>>;
  /** Example calls by the full name of the method (see contract-examples.ts). */
  readonly examples: unknown;
  readonly failures: Failures;
  /** The types that a google.protobuf.Any in an example can contain (see registryOf()). */
  readonly registry: Registry;
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  /** The maximum size of a JSON body in bytes, for methods that do not declare their own. */
  readonly bodyBytesMax: number;
}

/**
 * Creates an OpenAPI 3.1 document with an operation for each binding. The document contains schemas
 * of proto3 JSON, limits from the options of hlust.api and google.api.field_behavior, texts from
 * the comments of the contract, and the examples. Throws Error for an example that is not a message
 * of its method.
 */
export function createOpenApi(bindings: readonly Binding[], parts: OpenApiParts): OpenApiDocument {
  const schemas = new SchemaBook(createComments(parts.comments));
  const comments = createComments(parts.comments);
  const operationParts: OperationParts = {
    ...parts,
    bindings,
    schemas,
    comments,
    examples: createExamples(parts.examples),
  };
  const ids = operationIds(bindings);
  const tags = tagNames(bindings);
  const paths = new PathTable();
  for (const [at, binding] of bindings.entries()) {
    const tag = tags.get(binding.method.parent) ?? binding.method.parent.name;
    const operationId = ids[at] ?? binding.method.localName;
    paths.add(binding, operationOf(binding, { operationId, tag }, operationParts));
  }
  const responses = sharedResponses(parts.failures);
  const reserved = new Set(Object.keys(parts.failures.schemas));
  const { value, schemas: messages } = schemas.finish(paths.items(), reserved);
  return {
    openapi: "3.1.1",
    info: parts.info,
    servers: [{ url: parts.url }],
    tags: Array.from(tags, ([service, name]): Tag => {
      const description = comments.of(service);
      return { name, ...(description !== "" && { description }) };
    }),
    paths: value,
    components: {
      schemas: { ...messages, ...parts.failures.schemas },
      responses,
      securitySchemes: parts.securitySchemes,
    },
  };
}

/**
 * Returns the id of each operation. The id is the method's name in lower camel case, with the
 * service's full name if another service has a method of the same name, and with a number for
 * further bindings.
 */
function operationIds(bindings: readonly Binding[]): string[] {
  const owners = new Map<string, DescService>();
  const counts = new Map<DescMethod, number>();
  return bindings.map(({ method }) => {
    const owner = owners.get(method.localName) ?? method.parent;
    owners.set(method.localName, owner);
    const service = method.parent.typeName.replaceAll(".", "_");
    const id = owner === method.parent ? method.localName : `${service}_${method.localName}`;
    const count = (counts.get(method) ?? 0) + 1;
    counts.set(method, count);
    return count === 1 ? id : `${id}_${count}`;
  });
}

/**
 * Returns the tag of each service: its short name, or its full name if an earlier service has the
 * same short name.
 */
function tagNames(bindings: readonly Binding[]): Map<DescService, string> {
  const names = new Map<DescService, string>();
  for (const { parent } of bindings.map(({ method }) => method)) {
    if (names.has(parent)) continue;
    const isTaken = names.values().some((name) => name === parent.name);
    names.set(parent, isTaken ? parent.typeName : parent.name);
  }
  return names;
}

/**
 * The operations by path and method. If two bindings have the same place, the later binding counts,
 * as for routes.
 */
class PathTable {
  /** The paths by shape, with the template of the first binding. */
  readonly #paths = new Map<string, { template: string; operations: Map<string, Operation> }>();

  add(binding: Binding, operation: Operation): void {
    const { template } = openApiPath(binding);
    const shape = shapeOf(template);
    const path = this.#paths.get(shape) ?? { template, operations: new Map<string, Operation>() };
    this.#paths.set(shape, path);
    path.operations.set(methodOf(binding), renamedLike(path.template, template, operation));
  }

  items(): Record<string, PathItem> {
    const entries = Array.from(this.#paths.values(), ({ template, operations }) => [
      template,
      itemOf(operations),
    ]);
    return Object.fromEntries(entries);
  }
}

/**
 * Returns the method of a binding for the document. A WebSocket is opened by GET, but "WEBSOCKET"
 * distinguishes it from a method that responds to GET.
 */
function methodOf({ method, httpMethod }: Binding): string {
  return needsSocket(method) ? "WEBSOCKET" : httpMethod;
}

function itemOf(operations: ReadonlyMap<string, Operation>): PathItem {
  const item: { [Method in PathItemMethod]?: Operation } = {};
  const additional: Record<string, Operation> = {};
  for (const [method, operation] of operations) {
    const place = method === "WEBSOCKET" && !operations.has("GET") ? "get" : method.toLowerCase();
    const known = pathItemMethods.find((name) => name === place);
    if (known === undefined) additional[method] = operation;
    else item[known] = operation;
  }
  return {
    ...item,
    ...(Object.keys(additional).length > 0 && { "x-additionalOperations": additional }),
  };
}

/** Returns an operation with the path parameters named as in the first binding of the path. */
function renamedLike(first: string, own: string, operation: Operation): Operation {
  if (first === own) return operation;
  const namesOf = (template: string) =>
    Array.from(template.matchAll(/\{([^}]*)\}/g), ([, name = ""]) => name);
  const names = namesOf(first);
  const owned = namesOf(own);
  const parameters = operation.parameters?.map((parameter) =>
    parameter.in === "path"
      ? { ...parameter, name: names[owned.indexOf(parameter.name)] ?? parameter.name }
      : parameter,
  );
  return { ...operation, ...(parameters && { parameters }) };
}
