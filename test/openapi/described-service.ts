import { contract } from "../../src/served-services.ts";
import { answerTypes } from "../../src/server/answer-types.ts";
import { describeApi } from "../../src/server/openapi.ts";
import {
  type OpenApiDocument,
  type Operation,
  operationsIn,
  type PlacedOperation,
  type Reference,
  type Response,
} from "../../src/transcoding/openapi/document.ts";
import { createTranscoder } from "../../src/transcoding/transcoder.ts";

export const registry = answerTypes(contract);
export const transcoder = createTranscoder(contract, { registry });
export const url = "https://hlust.example.org";

/** The document of the contract, created without a running service. */
export const document: OpenApiDocument = describeApi(transcoder.bindings, { registry, url });

export function operationNamed(operationId: string): PlacedOperation {
  const found = operationsIn(document).find((one) => one.operation.operationId === operationId);
  if (found === undefined) throw new Error(`no operation ${operationId}`);
  return found;
}

/**
 * Returns the response of an operation for a status: its own, one of the components, or "default".
 */
export function responseOf({ responses }: Operation, status: number): Response | undefined {
  const named: Response | Reference | undefined = responses[status] ?? responses["default"];
  if (named === undefined || !("$ref" in named)) return named;
  return document.components.responses[named.$ref.slice("#/components/responses/".length)];
}
