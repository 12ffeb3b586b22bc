import { create } from "@bufbuild/protobuf";
import type { ServedModel } from "../engines/pool/pool-state.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import {
  ListModelsResponseSchema,
  Model_Use,
  ModelSchema,
  type ListModelsResponse,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";

const uses = { live: Model_Use.LIVE, short: Model_Use.SHORT, job: Model_Use.JOB } as const;

/** Returns the models as an API message. */
export function modelsMessage(
  models: readonly ServedModel[],
  recognizer: Pick<Recognizer, "takesHints">,
): ListModelsResponse {
  return create(ListModelsResponseSchema, {
    models: models.map((model) =>
      create(ModelSchema, {
        name: model.name,
        version: model.version,
        languageCodes: [...model.languageCodes],
        uses: model.uses.map((use) => uses[use]),
        sizeBytes: BigInt(model.bytes),
        takesHints: model.languageCodes.some((code) =>
          model.uses.some((use) => recognizer.takesHints(code, use, model.name)),
        ),
      }),
    ),
  });
}
