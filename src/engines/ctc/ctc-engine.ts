import { EnergyVoiceActivity } from "../../audio/energy-voice-activity.ts";
import type { Decoder, Engine, Hint, RecognitionMode } from "../protocol/engine.ts";
import { onnxDefaults, type OnnxOptions } from "../../models/onnx-options.ts";
import type { ModelCard } from "../../models/model-card.ts";
import { type AlignParts, wordAligner } from "./align-words.ts";
import { type CtcModel, openCtcModel } from "./ctc-model.ts";
import type { DecoderParts } from "./decoder-parts.ts";
import { RecordingDecoder } from "./recording-decoder.ts";
import { RecordingModel } from "./recording-model.ts";
import { StreamingBatch } from "./streaming-batch.ts";
import { StreamingDecoder } from "./streaming-decoder.ts";
import { streamedEmissions, wholeEmissions } from "./window-emissions.ts";
import { WordScorer } from "./word-scorer.ts";

/** The number of hypotheses in the beam, which is higher for whole utterances. */
const beamWidths: Readonly<Record<RecognitionMode, number>> = { live: 16, short: 32, job: 32 };

/**
 * Opens an engine that recognizes speech with a CTC model on onnxruntime, with its own features,
 * search, times and confidences. Throws an Error that begins with the path of the faulty model
 * file.
 */
export async function openCtcEngine(
  card: ModelCard,
  folder: string,
  onnx = onnxDefaults,
): Promise<Engine> {
  const model = await openCtcModel(card, folder, onnx.providers);
  const { session, table, lexicon, layout, tokenDelayMs: delayMs } = model;
  const { newDecoder, emissions } = await modelUses(model, onnx);
  const { frameMs, tokenCount } = layout;
  const aligner = wordAligner({ table, frameMs, tokenCount, delayMs, emissions });
  // Sessions without hints, which are the majority, share this scorer.
  const plainScorer = new WordScorer(lexicon);
  /** The scorers of lists of hints, which equal sessions share (process/shared-hints.ts). */
  const scorers = new WeakMap<readonly Hint[], WordScorer>();
  const scorerOf = (hints: readonly Hint[]): WordScorer => {
    const scorer = scorers.get(hints) ?? new WordScorer(lexicon, hints);
    scorers.set(hints, scorer);
    return scorer;
  };
  return {
    name: "ctc",
    languageCodes: card.languageCodes,
    utteranceMsMax: 20_000,
    takesHints: true,
    usesThreads: false,
    createDecoder({ mode, alternativesMax, hints = [], keepsOutputs }) {
      const scorer = hints.length > 0 ? scorerOf(hints) : plainScorer;
      const beamWidth = beamWidths[mode];
      return newDecoder({ table, scorer, mode, alternativesMax, beamWidth, keepsOutputs });
    },
    createVoiceActivity: () => new EnergyVoiceActivity(),
    align: (window, words) => aligner.align(window, words),
    outputs: {
      model: model.identity,
      align: (window, words) => aligner.alignOutputs(window, words),
    },
    close() {
      void session.release();
    },
  };
}

/** What a model is used for: decoding streams, and the outputs for windows with known words. */
interface ModelUses {
  readonly newDecoder: (parts: DecoderParts) => Decoder;
  readonly emissions: AlignParts["emissions"];
}

async function modelUses(
  { session, layout, table }: CtcModel,
  onnx: OnnxOptions,
): Promise<ModelUses> {
  if (layout.kind === "streaming-nemo-ctc") {
    const batch = new StreamingBatch(session, layout, onnx);
    return {
      newDecoder: (parts) => new StreamingDecoder(layout, batch, parts),
      emissions: (window) => streamedEmissions(window, { layout, batch, blank: table.blank }),
    };
  }
  const model = new RecordingModel(session, layout);
  await model.measure();
  return {
    newDecoder: (parts) => new RecordingDecoder(model, parts),
    emissions: (window) => wholeEmissions(window, model),
  };
}
