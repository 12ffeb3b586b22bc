import type {
  Operation,
  PathItem,
  Reference,
  Response,
  Schema,
} from "../transcoding/openapi/document.ts";
import { curlOf } from "../transcoding/openapi/curl.ts";
import { doorsTag, failed, failure, json } from "./openapi-parts.ts";
import { sharedPaths } from "./openapi-shared.ts";
import { signedPaths } from "./openapi-signed-urls.ts";
import { resumablePaths } from "./openapi-uploads.ts";

/**
 * Returns the paths that no HTTP rule describes: uploads, media, health, and the reference itself.
 */
export function doorPaths(url: string): Record<string, PathItem> {
  return {
    ...resumablePaths(url),
    ...signedPaths(),
    ...sharedPaths(),
    "/healthz": { get: health(url) },
    "/readyz": { get: readiness(url) },
    "/startupz": { get: startup(url) },
    "/openapi.json": {
      get: door(url, "getOpenApi", "This description", "/openapi.json", {
        "200": json("An OpenAPI 3.1 document.", { type: "object" }),
        "304": { description: "Not modified: `If-None-Match` has its ETag." },
      }),
    },
    "/docs": {
      get: door(url, "getDocs", "This description, as a page", "/docs", {
        "200": {
          description: "A page that loads nothing from other sites.",
          content: { "text/html": {} },
        },
        "304": { description: "Not modified: `If-None-Match` has its ETag." },
      }),
    },
  };
}

function door(
  url: string,
  operationId: string,
  summary: string,
  path: string,
  responses: Record<string, Response | Reference>,
): Operation {
  const source = curlOf({ method: "GET", url: `${url}${path}`, withToken: false });
  return {
    operationId,
    tags: [doorsTag.name],
    summary,
    security: [],
    responses: { ...responses, default: failure },
    "x-codeSamples": [{ lang: "Shell", label: summary, source }],
  };
}

function health(url: string): Operation {
  return door(url, "getHealth", "Whether the process answers", "/healthz", {
    "200": json("The process answers.", {
      type: "object",
      properties: { status: { const: "ok" } },
      required: ["status"],
    }),
  });
}

function startup(url: string): Operation {
  const report = (status: string) =>
    ({
      type: "object",
      properties: { status: { const: status } },
      required: ["status"],
    }) satisfies Schema;
  return door(url, "getStartup", "Whether the process has started", "/startupz", {
    "200": json("The models that were found at the start are loaded.", report("started")),
    "503": json("Models are still being loaded.", report("starting")),
  });
}

function readiness(url: string): Operation {
  const report: Schema = {
    type: "object",
    properties: {
      status: { type: "string", enum: ["ready", "starting", "not ready", "draining"] },
      parts: {
        type: "object",
        description: "Each part by its name, with facts about it.",
        additionalProperties: {
          type: "object",
          properties: {
            ready: { type: "boolean" },
            reason: { type: "string", description: "Why it is not ready." },
          },
          required: ["ready"],
        },
      },
    },
    required: ["status", "parts"],
  };
  const operation = door(url, "getReadiness", "Whether calls can be answered", "/readyz", {
    "200": json("Every part that was checked is ready.", report),
    "400": failed("`for` has an unknown use."),
    "503": json("A part is not ready, or the node is shutting down.", report),
  });
  const uses = {
    name: "for",
    in: "query",
    description:
      "Checks only the parts that these uses need, separated by commas. Default: every part.",
    schema: { type: "string", examples: ["speech", "transcripts", "jobs", "speech,transcripts"] },
  } as const;
  return { ...operation, parameters: [uses] };
}
