import type { JsonValue } from "@bufbuild/protobuf";

/**
 * An OpenAPI 3.1 document, with only the parts that are used here. Names that begin with "x-" are
 * our extensions.
 */
export interface OpenApiDocument {
  readonly openapi: "3.1.1";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly contact?: { readonly url?: string; readonly email?: string };
    readonly license?: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, PathItem>>;
  /** The messages that the service sends, by their names. */
  readonly webhooks?: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  };
}

export interface Tag {
  readonly name: string;
  readonly description?: string;
}

export type SecurityScheme =
  | { readonly type: "http"; readonly scheme: string; readonly description: string }
  | {
      readonly type: "apiKey";
      readonly in: "query" | "header";
      readonly name: string;
      readonly description: string;
    };

/** The HTTP methods that a path item of OpenAPI 3.1 can have, in the order of its specification. */
export const pathItemMethods = [
  "get",
  "put",
  "post",
  "delete",
  "options",
  "head",
  "patch",
  "trace",
] as const;
export type PathItemMethod = (typeof pathItemMethods)[number];

export type PathItem = { readonly [Method in PathItemMethod]?: Operation } & {
  /** The operations with methods that a path item cannot have, by the method in upper case. */
  readonly "x-additionalOperations"?: Readonly<Record<string, Operation>>;
};

/** An operation and its place in the document. */
export interface PlacedOperation {
  readonly path: string;
  /** The HTTP method in upper case, as sent. */
  readonly method: string;
  readonly operation: Operation;
}

/** Returns every operation of a document, in the order of the document. */
export function operationsIn(document: Pick<OpenApiDocument, "paths">): PlacedOperation[] {
  return Object.entries(document.paths).flatMap(
    ([path, { "x-additionalOperations": additional = {}, ...item }]) =>
      Object.entries({ ...item, ...additional }).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
  );
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** The method's full name, as used by gRPC, gRPC-Web and Connect: "/package.Service/Method". */
  readonly "x-grpc-path"?: string;
  readonly "x-websocket"?: WebSocketDescription;
  readonly "x-codeSamples"?: readonly CodeSample[];
}

export interface Reference {
  readonly $ref: string;
}

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/**
 * The messages of the WebSocket that a GET request with Upgrade opens. Each text frame is one
 * message.
 */
export interface WebSocketDescription {
  readonly send: Schema;
  readonly receive: Schema;
  readonly examples: Readonly<Record<string, WebSocketExample>>;
}

export interface WebSocketExample {
  readonly summary: string;
  /** The messages in order. */
  readonly messages: readonly ({ readonly send: JsonValue } | { readonly receive: JsonValue })[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: true;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: JsonValue;
  /** Marks a path parameter with a value that can contain slashes, which are not escaped. */
  readonly "x-multiSegment"?: true;
}

export interface RequestBody {
  readonly description?: string;
  readonly required?: true;
  readonly content: Readonly<Record<string, MediaType>>;
  /** The maximum size of the body in bytes. A larger body is refused with 413. */
  readonly "x-bytesMax"?: number;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface Example {
  readonly summary?: string;
  readonly value: JsonValue;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Header {
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: JsonValue;
}

/** A JSON Schema 2020-12, with only the keywords that are used here. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly JsonValue[];
  readonly const?: JsonValue;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly contentEncoding?: string;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly maxProperties?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly readOnly?: true;
  readonly examples?: readonly JsonValue[];
  /** The meaning of each value of `enum`. */
  readonly "x-enumDescriptions"?: Readonly<Record<string, string>>;
  /** The minimum of a duration, such as "0.2s". */
  readonly "x-minimum"?: string;
  readonly "x-maximum"?: string;
}
