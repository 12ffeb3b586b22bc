import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { AnySchema, type Any } from "@bufbuild/protobuf/wkt";
import { StatusSchema, type Status } from "../gen/google/rpc/status_pb.ts";
import { failureDetails } from "./job-failure.ts";

/**
 * Reads the stored error of a job, a google.rpc.Status as JSON text. Unknown parts are left out
 * rather than refused: a later version may have written them, during an upgrade or before a
 * rollback.
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

/**
 * Returns the detail, or an empty list if this version does not know its type or one of its fields.
 */
function knownDetail(detail: JsonValue): Any[] {
  try {
    return [fromJson(AnySchema, detail, { registry: failureDetails, ignoreUnknownFields: true })];
  } catch {
    return [];
  }
}
