import type { Registry } from "@bufbuild/protobuf";
import { comments } from "../gen/comments.ts";
import { examples } from "../gen/examples.ts";
import { packageVersion } from "../std/version.ts";
import type { Binding } from "../transcoding/http-rules.ts";
import type { OpenApiDocument, SecurityScheme } from "../transcoding/openapi/document.ts";
import { createOpenApi } from "../transcoding/openapi/openapi.ts";
import { guideMarkdown, guideOf } from "./docs/guide.ts";
import { doorPaths } from "./openapi-doors.ts";
import { doorsTag } from "./openapi-parts.ts";
import { describeFailures } from "./openapi-failures.ts";
import { webhookMessages } from "./openapi-webhooks.ts";
import { bodyBytesMaxDefault } from "./body-bytes-max.ts";

/**
 * Describes everything that the service serves over HTTP, as OpenAPI 3.1. `url`: the address of the
 * service for clients, without a trailing slash.
 */
export function describeApi(
  bindings: readonly Binding[],
  {
    registry,
    url,
    contact,
  }: {
    readonly registry: Registry;
    readonly url: string;
    /** The e-mail address or URL where people can request access. */
    readonly contact?: string | undefined;
  },
): OpenApiDocument {
  const document = createOpenApi(bindings, {
    info: {
      title: "Hlust",
      version: packageVersion(),
      description: `${intro}\n\n${guideMarkdown(guideOf(url))}`,
      ...(contact !== undefined && {
        contact: contact.includes("://") ? { url: contact } : { email: contact },
      }),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    url,
    comments,
    examples,
    registry,
    failures: describeFailures(),
    securitySchemes,
    bodyBytesMax: bodyBytesMaxDefault,
  });
  return {
    ...document,
    tags: [...document.tags, doorsTag],
    paths: { ...document.paths, ...doorPaths(url) },
    webhooks: webhookMessages,
  };
}

/** A one-sentence description of the service. */
export const intro =
  "Recordings become time-aligned, versioned, editable transcripts; live audio becomes words while they are spoken.";

const securitySchemes: Readonly<
  Record<"bearer" | "token" | "key" | "apiKeyHeader", SecurityScheme>
> = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description:
      "An API key, or a JWT signed with the private half of a registered client key. Scopes: transcripts.read, transcripts.write, speech, account.",
  },
  token: {
    type: "apiKey",
    in: "query",
    name: "token",
    description:
      "The same token in the query, if headers cannot be set; for the Speech service only. A WebSocket may send it as `Sec-WebSocket-Protocol: Bearer, <token>`.",
  },
  key: {
    type: "apiKey",
    in: "query",
    name: "key",
    description: "An API key in the query, where Google's REST clients send it.",
  },
  apiKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "X-Goog-Api-Key",
    description: "An API key in the header that Google's clients send. Every call accepts it.",
  },
};
