import type {
  Operation,
  PathItem,
  Reference,
  Response,
  Schema,
} from "../transcoding/openapi/document.ts";
import { doorsTag, failed, failure, json } from "./openapi-parts.ts";

/** Returns the paths of signed URLs: media, their waveforms, and exports. */
export function signedPaths(): Record<string, PathItem> {
  return {
    "/media/uploads/{upload}": { put: putMedia() },
    "/media/exports/{transcript}/{version}/{format}": {
      get: getExport("get"),
      head: getExport("head"),
    },
    "/media/{media}": { get: getMedia("get"), head: getMedia("head") },
    "/media/waveforms/{media}": { get: getWaveform("get"), head: getWaveform("head") },
  };
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
  const types = [
    "text/vtt",
    "application/x-subrip",
    "text/plain",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.oasis.opendocument.text",
  ];
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
      part("format", "The format of the file, with its options."),
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
