import type { Operation, PathItem, Response, Schema } from "../transcoding/openapi/document.ts";
import { doorsTag, failed, failure } from "./openapi-parts.ts";
import { tusExtensions, tusVersion } from "./tus-headers.ts";

type Parameter = NonNullable<Operation["parameters"]>[number];
type Headers = NonNullable<Response["headers"]>;

/** Returns the paths of resumable uploads (docs/api.md, Uploads). */
export function resumablePaths(url: string): Record<string, PathItem> {
  return {
    "/v1alpha1/uploads": { post: creation(url), options: options() },
    "/v1alpha1/uploads/{upload}": { head: state(), patch: sending(), delete: termination() },
  };
}

const bearer: Operation["security"] = [{ bearer: [] }];

function header(name: string, description: string, schema: Schema, isRequired = true): Parameter {
  return { name, in: "header", ...(isRequired && { required: true }), description, schema };
}

const version = header("Tus-Resumable", "The version of the protocol.", { const: tusVersion });
const offsetParameter = header(
  "Upload-Offset",
  "The number of bytes before those of the body: `Upload-Offset` of the last answer.",
  { type: "integer", minimum: 0 },
);

const uploadInPath: Parameter = {
  name: "upload",
  in: "path",
  required: true,
  description: "The id of the upload.",
  schema: { type: "string" },
};

const answered: Headers = {
  "Tus-Resumable": { schema: { const: tusVersion } },
  "Upload-Offset": {
    description: "The number of bytes that are stored.",
    schema: { type: "integer" },
  },
  "Upload-Expires": {
    description:
      "When the upload is deleted unless more bytes arrive, as a date of HTTP. Absent if it is complete.",
    schema: { type: "string" },
  },
};

const bytes = {
  "application/offset+octet-stream": { schema: { type: "string", format: "binary" } },
} as const;

const failures: NonNullable<Operation["responses"]> = {
  "400": failed("A header is missing or has a wrong value; the message names it."),
  "401": failed("`TOKEN_MISSING`, `TOKEN_INVALID`."),
  "403": failed("`SCOPE_MISSING`: the key lacks transcripts.write."),
  "404": failed("`NOT_FOUND`: the account has no such upload."),
  "410": failed("`UPLOAD_EXPIRED`: no bytes arrived for a day."),
  "412": failed(`\`TUS_VERSION_NOT_SUPPORTED\`: \`Tus-Resumable\` must be ${tusVersion}.`),
  "413": failed("`PAYLOAD_TOO_LARGE`, `UPLOAD_TOO_LONG`: the media is too large or too long."),
  "415": failed("`UNSUPPORTED_MEDIA_TYPE`: the body must be application/offset+octet-stream."),
  "429": failed("`STORAGE_LIMIT`, `TOO_MANY_REQUESTS`."),
  "503": { $ref: "#/components/responses/Unavailable" },
  default: failure,
};

function pick(...statuses: readonly string[]): NonNullable<Operation["responses"]> {
  const wanted = new Set(["401", "403", "412", "503", "default", ...statuses]);
  return Object.fromEntries(Object.entries(failures).filter(([status]) => wanted.has(status)));
}

/** Returns the failures of a HEAD request. */
function withoutBodies(of: NonNullable<Operation["responses"]>): Operation["responses"] {
  return Object.fromEntries(
    Object.entries(of).map(([status, response]) => {
      if ("$ref" in response) return [status, { description: "A failure." }];
      const { content: _, ...rest } = response;
      return [status, rest];
    }),
  );
}

function creation(url: string): Operation {
  const base64 = "$(printf %s talk.wav | base64)";
  return {
    operationId: "createUpload",
    tags: [doorsTag.name],
    summary: "Creates an upload that can be continued after an interruption",
    description: `Implements tus ${tusVersion} (https://tus.io/protocols/resumable-upload) with the extensions ${tusExtensions}: use one of its clients. Requires the scope transcripts.write. The last part of \`Location\` is the id of the upload: once it is complete, a job takes \`uploads/<id>\` as its \`uri\`, with \`useUri: false\`. The body may contain the first bytes.`,
    security: bearer,
    parameters: [
      version,
      header("Upload-Length", "The size of the media in bytes.", { type: "integer", minimum: 1 }),
      header(
        "Upload-Metadata",
        "Pairs of a key and a value in Base64, separated by commas. `filename` is the name of the file, `resourceName` the transcript that receives the media (`transcripts/<id>`); other keys are only returned.",
        { type: "string", maxLength: 4096 },
        false,
      ),
    ],
    requestBody: { content: bytes },
    responses: {
      "201": {
        description: "The upload exists.",
        headers: { Location: { schema: { type: "string", format: "uri" } }, ...answered },
      },
      ...pick("400", "404", "413", "415", "429"),
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "A file of 160,044 bytes",
        source: `curl -i -X POST ${url}/v1alpha1/uploads -H "Authorization: Bearer $TOKEN" \\
  -H "Tus-Resumable: ${tusVersion}" -H "Upload-Length: 160044" \\
  -H "Upload-Metadata: filename ${base64}"`,
      },
    ],
  };
}

function options(): Operation {
  const text = { schema: { type: "string" } } as const;
  return {
    operationId: "describeUploads",
    tags: [doorsTag.name],
    summary: "Returns the extensions of tus and the maximum size of media",
    security: [],
    responses: {
      "204": {
        description: "The headers have the answer.",
        headers: { "Tus-Version": text, "Tus-Extension": text, "Tus-Max-Size": text },
      },
      default: failure,
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "Only the headers",
        source: `curl -i -X OPTIONS "\${UPLOAD%/*}"`,
      },
    ],
  };
}

function state(): Operation {
  return {
    operationId: "getUpload",
    tags: [doorsTag.name],
    summary: "Returns how many bytes of an upload are stored",
    description:
      "A request that still sends bytes to the upload is ended first, since its connection may be lost.",
    security: bearer,
    parameters: [version, uploadInPath],
    responses: {
      "200": {
        description: "`Upload-Offset` is where the upload continues.",
        headers: {
          ...answered,
          "Upload-Length": { schema: { type: "integer" } },
          "Upload-Metadata": { schema: { type: "string" } },
        },
      },
      ...withoutBodies(pick("404", "410")),
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "The URL of Location",
        source: `curl -I "$UPLOAD" -H "Authorization: Bearer $TOKEN" -H "Tus-Resumable: ${tusVersion}"`,
      },
    ],
  };
}

function sending(): Operation {
  return {
    operationId: "sendUpload",
    tags: [doorsTag.name],
    summary: "Sends bytes of an upload",
    description:
      "The answer comes when the bytes are stored durably. If the request is interrupted, the bytes that arrived are kept: ask with HEAD, and continue there. The last byte completes the upload.",
    security: bearer,
    parameters: [version, uploadInPath, offsetParameter],
    requestBody: { required: true, content: bytes },
    responses: {
      "204": { description: "The bytes are stored.", headers: answered },
      "409": failed(
        "`OFFSET_MISMATCH`: `Upload-Offset` is not the number of stored bytes. `UPLOAD_TAKEN_OVER`: a later request continues the upload.",
      ),
      ...pick("400", "404", "410", "413", "415", "429"),
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "A whole file",
        source: `curl -X PATCH --data-binary @talk.wav "$UPLOAD" -H "Authorization: Bearer $TOKEN" \\
  -H "Tus-Resumable: ${tusVersion}" -H "Upload-Offset: 0" \\
  -H "Content-Type: application/offset+octet-stream"`,
      },
    ],
  };
}

function termination(): Operation {
  return {
    operationId: "deleteUpload",
    tags: [doorsTag.name],
    summary: "Deletes an upload and its bytes",
    security: bearer,
    parameters: [version, uploadInPath],
    responses: {
      "204": { description: "The upload does not exist any more." },
      "409": failed("`UPLOAD_USED`: a transcript or a job uses the media."),
      ...pick("404"),
    },
    "x-codeSamples": [
      {
        lang: "Shell",
        label: "The URL of Location",
        source: `curl -X DELETE "$UPLOAD" -H "Authorization: Bearer $TOKEN" -H "Tus-Resumable: ${tusVersion}"`,
      },
    ],
  };
}
