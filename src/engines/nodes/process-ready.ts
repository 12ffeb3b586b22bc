import type { ProcessReady } from "../../gen/hlust/engine/v1/engine_pb.ts";
import type { LoadableModel } from "../pool/loadable-models.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { ReadyProcess } from "../protocol/engine-frames.ts";
import { checkedAbsence } from "./check-absence.ts";

/** A name, a version, or a language code. */
const textPattern = /^[\w.:+-]{1,200}$/;
const entriesMax = 500;
const uses: readonly RecognitionMode[] = ["live", "short", "job"];

/**
 * Reads what an engine node reports about one of its processes. Throws if that cannot be true.
 */
export function checkedReady(message: ProcessReady): {
  readonly model: LoadableModel;
  readonly ready: ReadyProcess;
} {
  const { model, engine, cpuPerSpeech } = message;
  if (!model || !engine) throw new Error("a process has no model");
  const { name, version, languageCodes, preference, bytes, diarizes } = model;
  const { outputsModel, fullEffort, sessionsMax, takesHints, alignsWords } = engine;
  const texts = [name, version, engine.name, ...languageCodes, ...engine.languageCodes];
  if (!texts.every((text) => textPattern.test(text)) || texts.length > entriesMax) {
    throw new Error("a model has no name, version or languages");
  }
  const numbers = [cpuPerSpeech, bytes, fullEffort ?? 0];
  if (!numbers.every((each) => each >= 0 && each < 1e15)) {
    throw new Error("a process has a cost that is not a number");
  }
  if (outputsModel !== undefined && outputsModel.length > 1_000) {
    throw new Error("the name of a model of outputs is too long");
  }
  const absence = checkedAbsence(message.absence);
  return {
    model: {
      name,
      version,
      languageCodes,
      uses: uses.filter((use) => model.uses.includes(use)),
      preference,
      source: { engine: "elsewhere", diarizes },
      bytes,
      identity: `${name} ${version}`,
    },
    ready: {
      engine: {
        name: engine.name,
        languageCodes: engine.languageCodes,
        takesHints,
        alignsWords,
        ...(fullEffort !== undefined && { fullEffort }),
        ...(outputsModel !== undefined && { outputsModel }),
        ...(sessionsMax !== undefined && { sessionsMax }),
      },
      cpuPerSpeech,
      ...(absence && { absence }),
    },
  };
}
