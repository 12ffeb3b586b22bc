import { Speech as GoogleSpeech } from "../../src/gen/google/cloud/speech/v1/speech_pb.ts";
import { Operations } from "../../src/gen/google/longrunning/operations_pb.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Vocabulary } from "../../src/gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { Speech as TiroSpeech } from "../../src/gen/tiro/speech/v1alpha/speech_pb.ts";
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

/** The services of the contract, as app.ts serves them. */
export const services = [
  Transcripts,
  Speech,
  GoogleSpeech,
  Operations,
  TiroSpeech,
  Vocabulary,
  Accounts,
  Webhooks,
  Operator,
] as const;
export const registry = answerTypes(services);
export const transcoder = createTranscoder(services, { registry });
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
