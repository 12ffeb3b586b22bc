import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { AnySchema, type Any } from "@bufbuild/protobuf/wkt";
import { StatusSchema, type Status } from "../gen/google/rpc/status_pb.ts";
import { failureDetails } from "./job-failure.ts";

/**
 * A job's error as its row has it, google.rpc.Status as JSON text. What this version does not know
 * is left out, never refused: while nodes are updated one after the other, or after a version was
 * taken back, a later version may have written it.
 */
export function storedStatus(text: string): Status {
  const { code, message, details } = JSON.parse(text);
  const known = Array.isArray(details) ? details.flatMap(knownDetail) : [];
  return create(StatusSchema, {
    code: Number.isInteger(code) ? code : 2,
    message: typeof message === "string" ? message : "",
    details: known,
  });
}

/** None where it is of a type, or has a field, that this version cannot read. */
function knownDetail(detail: JsonValue): Any[] {
  try {
    return [fromJson(AnySchema, detail, { registry: failureDetails, ignoreUnknownFields: true })];
  } catch {
    return [];
  }
}
