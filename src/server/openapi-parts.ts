import type { Reference, Response, Schema, Tag } from "../transcoding/openapi/document.ts";

/** The tag for requests that the service handles in addition to the methods of its contract. */
export const doorsTag: Tag = {
  name: "Service",
  description:
    "Uploads that continue after an interruption, media at signed URLs, the state of the service, and this description. Only the uploads need a token.",
};

/** A failure that is not described further. */
export const failure: Reference = { $ref: "#/components/responses/Failure" };

/** Returns an answer with JSON. */
export function json(description: string, schema: Schema): Response {
  return { description, content: { "application/json": { schema } } };
}

/** Returns an answer with the error of a failed request. */
export function failed(description: string): Response {
  const schema: Schema = { $ref: "#/components/schemas/Error" };
  return { description, content: { "application/json": { schema } } };
}
