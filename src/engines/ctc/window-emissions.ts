import { featureMs, FilterBanks } from "./filter-banks.ts";
import { leadFrames } from "./decoder-parts.ts";
import type { StreamingLayout } from "./model-layout.ts";
import type { Outputs, RecordingModel } from "./recording-model.ts";
import type { StreamingBatch } from "./streaming-batch.ts";
import type { Emissions } from "../alignment/word-lattice.ts";
import { newStreamState } from "./window-tensors.ts";

/** The features of a window are computed in parts of a second. */
const partSamples = 16_000;
/** The length of a section that a streaming model processes in parallel with others. */
const sectionSeconds = 8;
/** The seconds before a section from which a streaming model learns its state. */
const contextSeconds = 1;

/** Computes the features of a window, in slices of a second. */
export function* windowFeatures(
  samples: Int16Array,
  binCount: number,
): Generator<void, FilterBanks, void> {
  const banks = new FilterBanks(binCount);
  banks.addSilence(leadFrames);
  for (let at = 0; at < samples.length; at += partSamples) {
    banks.accept(samples.subarray(at, at + partSamples));
    yield;
  }
  banks.end();
  return banks;
}

/**
 * Runs a streaming model on a window. The window is processed in sections at the same time, since
 * the model's weights are then read once for all of them.
 */
export function* streamedEmissions(
  samples: Int16Array,
  layout: StreamingLayout,
  batch: StreamingBatch,
): Generator<void | Promise<void>, Emissions, void> {
  const { binCount, windowFrames, shiftFrames, outputFrames, tokenCount } = layout;
  const banks = yield* windowFeatures(samples, binCount);
  const wanted = Math.ceil(banks.count / shiftFrames);
  banks.addSilence(windowFrames);
  const features = banks.values;
  const logs = new Float32Array(wanted * outputFrames * tokenCount);
  const perSecond = 1000 / featureMs / shiftFrames;
  const sectionCount = Math.max(1, Math.round(wanted / (sectionSeconds * perSecond)));
  const context = Math.ceil(contextSeconds * perSecond);
  const sections = Array.from({ length: sectionCount }, (_, index) => {
    const from = Math.round((wanted * index) / sectionCount);
    const to = Math.round((wanted * (index + 1)) / sectionCount);
    return { at: Math.max(0, from - context), from, to, state: newStreamState(layout) };
  });
  for (;;) {
    const running = sections.filter(({ at, to }) => at < to);
    if (running.length === 0) break;
    const runs = running.map(async (section) => {
      await batch.run({
        mode: "job",
        state: section.state,
        frames: () => features.subarray(section.at * shiftFrames * binCount),
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
  const banks = yield* windowFeatures(samples, binCount);
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
