import type { Registry } from "@bufbuild/protobuf";
import { errorCodes } from "../../std/error-statuses.ts";
import { ServiceError } from "../../std/service-error.ts";
import type { Binding } from "../http-rules.ts";
import { registryOf } from "../registry-of.ts";
import { writeStatus } from "../status-json.ts";
import type { OpenApiDocument, Schema, SecurityScheme } from "./document.ts";
import type { FailureAnswer, Failures } from "./failures.ts";
import { createOpenApi } from "./openapi.ts";

export interface ApiDescription {
  readonly info: OpenApiDocument["info"];
  /** The base URL of the service, without a trailing slash. */
  readonly url: string;
  /** ErrorInfo.domain of the failures. */
  readonly domain: string;
  /** The comments of the protos by full name, as readServices() returns them. Default: none. */
  readonly comments?: Readonly<Record<string, string>>;
  /** The types that a google.protobuf.Any can contain. Default: those of the services' files. */
  readonly registry?: Registry;
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** The maximum size of a body in bytes, for the extension x-bytesMax. Default: 4 MiB. */
  readonly bodyBytesMax?: number;
}

/**
 * Creates an OpenAPI 3.1 document (an object for JSON.stringify) of the paths that the bindings of
 * a transcoder serve. Every failure is a google.rpc.Status, as writeStatus() writes it.
 */
export function describeApi(
  bindings: readonly Binding[],
  description: ApiDescription,
): OpenApiDocument {
  const { info, url, domain, bodyBytesMax = 4 << 20 } = description;
  const services = [...new Set(bindings.map(({ method }) => method.parent))];
  return createOpenApi(bindings, {
    info,
    url,
    comments: description.comments ?? {},
    examples: {},
    failures: statusFailures(domain),
    registry: description.registry ?? registryOf(services),
    securitySchemes: description.securitySchemes ?? {},
    bodyBytesMax,
  });
}

const statusSchema: Schema = {
  type: "object",
  description: "A google.rpc.Status.",
  properties: {
    code: { type: "integer", description: "The google.rpc.Code." },
    message: { type: "string" },
    details: { type: "array", items: { type: "object" } },
  },
};

function statusFailures(domain: string): Failures {
  const answerTo = (error: ServiceError): FailureAnswer => {
    const { status, headers, body } = writeStatus(error, domain);
    return { status, headers, body: JSON.parse(body) };
  };
  const violations = [{ field: "pages", description: "expected a whole number, found 1.5" }];
  const invalid = new ServiceError(
    "invalid_argument",
    "pages: expected a whole number, found 1.5",
    {
      violations,
    },
  );
  return {
    shared: [
      {
        name: "InvalidArgument",
        description: "The request has violations, which are all named.",
        scope: "every",
        examples: { INVALID_ARGUMENT: answerTo(invalid) },
        status: 400,
      },
      {
        name: "Failed",
        description: "Any other failure.",
        scope: "every",
        examples: { INTERNAL: answerTo(new ServiceError("internal", "internal")) },
        status: "default",
      },
    ],
    answer({ code, reason, message }) {
      const known = errorCodes.find((name) => name.toUpperCase() === code);
      if (known === undefined) throw new Error(`${code} is not a google.rpc.Code`);
      return answerTo(new ServiceError(known, message, { reason }));
    },
    schemas: { Error: statusSchema, StreamError: statusSchema },
  };
}
