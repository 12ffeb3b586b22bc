import type { Emissions } from "../alignment/word-lattice.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import { featureMs, FilterBanks } from "./filter-banks.ts";
import { leadFrames } from "./decoder-parts.ts";
import type { StreamingLayout } from "./model-layout.ts";
import type { Outputs, RecordingModel } from "./recording-model.ts";
import type { StreamingBatch } from "./streaming-batch.ts";
import { type Stretch, soundStretches } from "./sound-stretches.ts";
import { newStreamState, type StreamState } from "./window-tensors.ts";

/** The features of a window are computed in parts of a second. */
const partSamples = 16_000;
const frameSamples = (featureMs * engineSampleRate) / 1000;
/** The length of a section that a streaming model processes in parallel with others. */
const sectionSeconds = 8;
/** The seconds before a section from which a streaming model learns its state. */
const contextSeconds = 1;
/** The log probability of a token other than blank in a section that is not processed. */
const unlikely = -20;

/** A section of a window, counted in windows of a streaming model. */
interface RunningSection {
  /** The next window, and the first and the end of those whose outputs are used. */
  at: number;
  readonly from: number;
  readonly to: number;
  /** The features from `firstWindow` on. */
  readonly features: Float32Array;
  readonly firstWindow: number;
  readonly state: StreamState;
}

/** Computes the features of samples, in slices of a second. */
function* computeFeatures(banks: FilterBanks, samples: Int16Array): Generator<void, void, void> {
  for (let at = 0; at < samples.length; at += partSamples) {
    banks.accept(samples.subarray(at, at + partSamples));
    yield;
  }
  banks.end();
}

/**
 * Runs a streaming model on a window. Silence is left out. The rest is processed in sections at the
 * same time, since the model's weights are then read once for all of them.
 */
export function* streamedEmissions(
  samples: Int16Array,
  {
    layout,
    batch,
    blank,
  }: { readonly layout: StreamingLayout; readonly batch: StreamingBatch; readonly blank: number },
): Generator<void | Promise<void>, Emissions, void> {
  const { binCount, shiftFrames, outputFrames, tokenCount } = layout;
  const featureCount = leadFrames + Math.ceil(samples.length / frameSamples);
  const wanted = Math.ceil(featureCount / shiftFrames);
  const logs = new Float32Array(wanted * outputFrames * tokenCount).fill(unlikely);
  for (let at = blank; at < logs.length; at += tokenCount) logs[at] = 0;
  const sections: RunningSection[] = [];
  for (const stretch of soundStretches(samples)) {
    sections.push(...(yield* sectionsOf(samples, stretch, layout)));
  }
  for (;;) {
    const running = sections.filter(({ at, to }) => at < to);
    if (running.length === 0) break;
    const runs = running.map(async (section) => {
      const { features, firstWindow, state } = section;
      await batch.run({
        mode: "job",
        state,
        frames: () => features.subarray((section.at - firstWindow) * shiftFrames * binCount),
        take: (outputs) => {
          if (section.at >= section.from) logs.set(outputs, section.at * outputs.length);
          section.at += 1;
        },
        isCancelled: false,
      });
    });
    yield Promise.all(runs).then(() => {});
  }
  return { logs, frames: wanted * outputFrames, tokenCount };
}

/** Computes the features of a stretch of sound, and divides it if it is long. */
function* sectionsOf(
  samples: Int16Array,
  stretch: Stretch,
  layout: StreamingLayout,
): Generator<void, readonly RunningSection[], void> {
  const { binCount, windowFrames, shiftFrames } = layout;
  // Features before the first sample are those of silence.
  const firstWindow = Math.floor((stretch.from + leadFrames) / shiftFrames);
  const endWindow = Math.ceil((stretch.to + leadFrames) / shiftFrames);
  const firstFrame = firstWindow * shiftFrames - leadFrames;
  const endFrame = (endWindow - 1) * shiftFrames + windowFrames - leadFrames;
  const banks = new FilterBanks(binCount, endFrame - firstFrame);
  banks.addSilence(Math.max(0, -firstFrame));
  const from = Math.max(0, firstFrame) * frameSamples;
  yield* computeFeatures(banks, samples.subarray(from, endFrame * frameSamples));
  banks.addSilence(Math.max(0, endFrame - firstFrame - banks.count));
  const features = banks.values;
  const perSecond = 1000 / featureMs / shiftFrames;
  const length = endWindow - firstWindow;
  const count = Math.max(1, Math.round(length / (sectionSeconds * perSecond)));
  const context = Math.ceil(contextSeconds * perSecond);
  return Array.from({ length: count }, (_, index) => {
    const first = firstWindow + Math.round((length * index) / count);
    const to = firstWindow + Math.round((length * (index + 1)) / count);
    const at = Math.max(firstWindow, first - context);
    return { at, from: first, to, features, firstWindow, state: newStreamState(layout) };
  });
}

/**
 * The frames of a section that a model for whole recordings processes, and of the context at its
 * ends whose outputs are not used.
 */
const wholeFrames = 2000;
const wholeContextFrames = 100;

/** Runs a model for whole recordings on a window, section by section. */
export function* wholeEmissions(
  samples: Int16Array,
  model: RecordingModel,
): Generator<void | Promise<void>, Emissions, void> {
  const { binCount, frameMs, tokenCount } = model.layout;
  const banks = new FilterBanks(
    binCount,
    2 * leadFrames + Math.ceil(samples.length / frameSamples),
  );
  banks.addSilence(leadFrames);
  yield* computeFeatures(banks, samples);
  banks.addSilence(leadFrames);
  const framesPerOutput = frameMs / featureMs;
  const frames = Math.ceil(banks.count / framesPerOutput);
  const logs = new Float32Array(frames * tokenCount);
  for (let from = 0; from < banks.count; from += wholeFrames - 2 * wholeContextFrames) {
    const start = Math.max(0, from - wholeContextFrames);
    const end = Math.min(banks.count, from + wholeFrames - wholeContextFrames);
    let outputs: Outputs | undefined;
    yield model.run(banks.values.slice(start * binCount, end * binCount)).then((ready) => {
      outputs = ready;
    });
    if (!outputs) throw new Error("the model returned nothing");
    const unused = Math.round((from - start) / framesPerOutput) * tokenCount;
    const at = Math.round(from / framesPerOutput) * tokenCount;
    const used = outputs.logs.subarray(unused, outputs.frames * tokenCount);
    logs.set(used.subarray(0, logs.length - at), at);
  }
  return { logs, frames, tokenCount };
}
