import type { Operation, PathItem } from "../transcoding/openapi/document.ts";
import { doorsTag, failed, failure, json } from "./openapi-parts.ts";

/** Returns the path of shared transcripts (docs/api.md, Transcripts). */
export function sharedPaths(): Record<string, PathItem> {
  return {
    "/v1alpha1/shared/{token}": {
      get: {
        ...operationOf("getShared", "Reads a transcript with the token of a share", "curl"),
        responses: {
          "200": json("What the share shows of the transcript; other fields are absent.", {
            $ref: "#/components/schemas/Transcript",
          }),
          "404": failed(gone),
          default: failure,
        },
      },
      head: {
        ...operationOf("headShared", "Returns the headers of a shared transcript", "curl -I"),
        responses: {
          "200": { description: "The share exists." },
          "404": { description: gone },
          default: { description: "A failure." },
        },
      },
    },
  };
}

const gone = "`SHARE_NOT_FOUND`: the link is wrong, has expired or was revoked.";

function operationOf(
  operationId: string,
  summary: string,
  command: string,
): Omit<Operation, "responses"> {
  return {
    operationId,
    tags: [doorsTag.name],
    summary,
    security: [],
    parameters: [
      {
        name: "token",
        in: "path",
        required: true,
        description: "The last part of the `uri` that CreateShare answered.",
        schema: { type: "string" },
      },
    ],
    "x-codeSamples": [
      {
        lang: "Shell",
        label: summary,
        source: `${command} "$HOST/v1alpha1/shared/$TOKEN"`,
      },
    ],
  };
}
