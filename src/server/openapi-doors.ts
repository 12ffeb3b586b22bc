import type {
  Operation,
  PathItem,
  Reference,
  Response,
  Schema,
  Tag,
} from "../transcoding/openapi/document.ts";
import { curlOf } from "../transcoding/openapi/curl.ts";
import { resumablePaths } from "./openapi-uploads.ts";

/** The tag for requests that the service handles in addition to the methods of its contract. */
export const doorsTag: Tag = {
  name: "Service",
  description:
    "Uploads that continue after an interruption, media at signed URLs, the state of the service, and this description. Only the uploads need a token.",
};

/**
 * Returns the paths that no HTTP rule describes: uploads, media, health, and the reference itself.
 */
export function doorPaths(url: string): Record<string, PathItem> {
  return {
    ...resumablePaths(url),
    "/media/uploads/{upload}": { put: putMedia() },
    "/media/exports/{transcript}/{version}/{format}": {
      get: getExport("get"),
      head: getExport("head"),
    },
    "/media/{media}": { get: getMedia("get"), head: getMedia("head") },
    "/media/waveforms/{media}": { get: getWaveform("get"), head: getWaveform("head") },
    "/healthz": { get: health(url) },
    "/readyz": { get: readiness(url) },
    "/openapi.json": {
      get: door(url, "getOpenApi", "This description", "/openapi.json", {
        "200": json("An OpenAPI 3.1 document.", { type: "object" }),
        "304": { description: "Not modified: `If-None-Match` has its ETag." },
      }),
    },
    "/docs": {
      get: door(url, "getDocs", "This description, as a page", "/docs", {
        "200": {
          description: "A page without scripts that loads nothing from other sites.",
          content: { "text/html": {} },
        },
        "304": { description: "Not modified: `If-None-Match` has its ETag." },
      }),
    },
  };
}

const failure: Reference = { $ref: "#/components/responses/Failure" };

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

function json(description: string, schema: Schema): Response {
  return { description, content: { "application/json": { schema } } };
}

/** Returns the query parameters of a signed URL. */
function signature(withSize: boolean): NonNullable<Operation["parameters"]> {
  const part = (name: string, description: string) =>
    ({ name, in: "query", required: true, description, schema: { type: "string" } }) as const;
  return [
    part("expires", "When the URL expires, in seconds since 1970."),
    ...(withSize ? [part("bytesMax", "The longest file that is accepted, in bytes.")] : []),
    part("token", "The signature. No part of the URL may be changed, left out or added."),
  ];
}

const invalid = "`SIGNED_URL_INVALID`: the URL was altered, is for another method, or has expired.";

function failed(description: string): Response {
  const schema: Schema = { $ref: "#/components/schemas/Error" };
  return { description, content: { "application/json": { schema } } };
}

/** A file. Generated clients send and return a body with this type and schema as bytes. */
const bytes = {
  "application/octet-stream": { schema: { type: "string", format: "binary" } },
} as const satisfies NonNullable<Response["content"]>;

/** Returns the failures of a GET of a signed URL, without bodies for a HEAD. */
function signedFailures(
  method: "get" | "head",
  deleted = "media",
): Record<string, Response | Reference> {
  const gone = `\`NOT_FOUND\`: the ${deleted} was deleted.`;
  if (method === "get") return { "403": failed(invalid), "404": failed(gone), default: failure };
  const rest = { description: "A failure." };
  return { "403": { description: invalid }, "404": { description: gone }, default: rest };
}

function putMedia(): Operation {
  return {
    operationId: "putMedia",
    tags: [doorsTag.name],
    summary: "Uploads media to the URL that initupload answered",
    description:
      "The body is the unmodified file. The response is sent once the bytes are stored. An interrupted upload leaves nothing behind and can be retried; a completed upload cannot be repeated.",
    security: [],
    parameters: [
      {
        name: "upload",
        in: "path",
        required: true,
        description: "The id of the upload.",
        schema: { type: "string" },
      },
      ...signature(true),
    ],
    requestBody: { required: true, content: bytes },
    responses: {
      "200": json("The bytes are stored.", { type: "object" }),
      "400": failed(
        "`CONTENT_RANGE_NOT_TAKEN`: the body is a part of a file; send the whole file.",
      ),
      "403": failed(invalid),
      "404": failed("`NOT_FOUND`: the transcript or the upload no longer exists."),
      "409": failed(
        "`UPLOAD_USED`: a file was already uploaded to the URL; `initupload` returns a new URL.",
      ),
      "415": failed(
        "`UNSUPPORTED_MEDIA_TYPE`: the body is multipart or compressed; send the bytes of the file.",
      ),
      "413": failed("`PAYLOAD_TOO_LARGE`: the file is longer than `bytesMax`; it is not stored."),
      "503": { $ref: "#/components/responses/Unavailable" },
      default: failure,
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "A file, to the answered storageSignedUrl",
        source: `curl -X PUT --data-binary @talk.wav "$STORAGE_SIGNED_URL"`,
      },
    ],
  };
}

function getMedia(method: "get" | "head"): Operation {
  const headers = {
    ETag: { description: "The entity tag of the content.", schema: { type: "string" } },
    "Accept-Ranges": { schema: { const: "bytes" } },
  } as const;
  const content = method === "get" ? { content: bytes } : {};
  return {
    operationId: method === "get" ? "getMedia" : "headMedia",
    tags: [doorsTag.name],
    summary:
      method === "get"
        ? "Plays or downloads the media at a transcript's uri"
        : "Returns the headers of the media",
    security: [],
    parameters: [mediaInPath, ...signature(false), ...(method === "get" ? [rangeHeader] : [])],
    responses: {
      "200": { description: "The whole media, with its media type.", headers, ...content },
      ...(method === "get" && {
        "206": { description: "The part that `Range` names.", headers, ...content },
      }),
      "304": { description: "Not modified: `If-None-Match` has its ETag." },
      ...signedFailures(method),
      ...(method === "get" && {
        "416": failed("`RANGE_NOT_SATISFIABLE`: the range begins after the end."),
      }),
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: method === "get" ? "The first kilobyte" : "Its size",
        source: method === "get" ? `curl -r 0-1023 "$URI"` : `curl -I "$URI"`,
      },
    ],
  };
}

const mediaInPath = {
  name: "media",
  in: "path",
  required: true,
  description: "The id of the media.",
  schema: { type: "string" },
} as const;

function getWaveform(method: "get" | "head"): Operation {
  const headers = {
    ETag: { description: "The entity tag of the media.", schema: { type: "string" } },
  } as const;
  const answer = json("audiowaveform's JSON, version 2: 20 pixels a second, 8 bits.", waveform);
  return {
    operationId: method === "get" ? "getWaveform" : "headWaveform",
    tags: [doorsTag.name],
    summary:
      method === "get"
        ? "Downloads the waveform at a transcript's waveformUri"
        : "Returns the headers of the waveform",
    security: [],
    parameters: [mediaInPath, ...signature(false)],
    responses: {
      "200":
        method === "get"
          ? { ...answer, headers }
          : { description: "The waveform exists.", headers },
      "304": { description: "Not modified: `If-None-Match` has its ETag." },
      ...signedFailures(method),
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: method === "get" ? "All of it" : "Headers only",
        source: method === "get" ? `curl "$WAVEFORM_URI"` : `curl -I "$WAVEFORM_URI"`,
      },
    ],
  };
}

function getExport(method: "get" | "head"): Operation {
  const headers = {
    ETag: { description: "The entity tag of the file.", schema: { type: "string" } },
    "Content-Disposition": {
      description: "A file name, which is the transcript's subject.",
      schema: { type: "string" },
    },
  } as const;
  const types = ["text/vtt", "application/x-subrip", "text/plain"];
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: "string" } }]));
  const part = (name: string, description: string) =>
    ({ name, in: "path", required: true, description, schema: { type: "string" } }) as const;
  return {
    operationId: method === "get" ? "getExport" : "headExport",
    tags: [doorsTag.name],
    summary:
      method === "get"
        ? "Downloads a transcript's file at the uri that signExport answered"
        : "Returns the headers of a transcript's file",
    security: [],
    parameters: [
      part("transcript", "The id of the transcript."),
      part("version", "The id of the version."),
      part("format", "The format of the file."),
      ...signature(false),
    ],
    responses: {
      "200": {
        description: "The file.",
        headers,
        ...(method === "get" && { content }),
      },
      "304": { description: "Not modified: `If-None-Match` has its ETag." },
      ...signedFailures(method, "transcript"),
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: method === "get" ? "The file, named by its subject" : "Headers only",
        source: method === "get" ? `curl -OJ "$URI"` : `curl -I "$URI"`,
      },
    ],
  };
}

const waveform: Schema = {
  type: "object",
  properties: {
    version: { const: 2 },
    channels: { const: 1 },
    sample_rate: { type: "integer" },
    samples_per_pixel: { type: "integer" },
    bits: { const: 8 },
    length: { type: "integer", description: "Pixels." },
    data: {
      type: "array",
      description: "Minimum and maximum of each pixel, alternating.",
      items: { type: "integer" },
    },
  },
  required: ["version", "channels", "sample_rate", "samples_per_pixel", "bits", "length", "data"],
};

const rangeHeader = {
  name: "Range",
  in: "header",
  description: "One range of bytes.",
  schema: { type: "string" },
  example: "bytes=0-1023",
} as const;

function health(url: string): Operation {
  return door(url, "getHealth", "Whether the process answers", "/healthz", {
    "200": json("The process answers.", {
      type: "object",
      properties: { status: { const: "ok" } },
      required: ["status"],
    }),
  });
}

function readiness(url: string): Operation {
  const report: Schema = {
    type: "object",
    properties: {
      status: { type: "string", enum: ["ready", "not ready", "shutting down"] },
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
