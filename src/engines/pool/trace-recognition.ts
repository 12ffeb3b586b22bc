import type { Recognition, RecognitionOptions } from "../protocol/recognizer.ts";
import {
  currentTraceparent,
  isTracing,
  reasonOf,
  startSpan,
  within,
} from "../../tracing/tracing.ts";

/**
 * Makes spans of a recognition: one for a job's piece or a short recording, one for each utterance
 * of a live stream, which may last for hours.
 */
export function traceRecognition(
  results: AsyncGenerator<Recognition, void, undefined>,
  { mode, model }: Pick<RecognitionOptions, "mode"> & { readonly model: string },
): AsyncGenerator<Recognition, void, undefined> {
  if (!isTracing()) return results;
  const attributes = { "hlust.model": model, "hlust.mode": mode };
  if (mode === "live") return traceUtterances(results, attributes);
  return traceOne(results, `recognize ${model}`, attributes);
}

async function* traceOne(
  results: AsyncGenerator<Recognition, void, undefined>,
  name: string,
  attributes: Readonly<Record<string, string>>,
): AsyncGenerator<Recognition, void, undefined> {
  const span = startSpan(name, { attributes });
  try {
    // The first call starts the work, which an engine node continues as a step of this span.
    let next = await within({ span }, () => results.next());
    for (; !next.done; next = await results.next()) yield next.value;
  } catch (error) {
    span?.fail(reasonOf(error));
    throw error;
  } finally {
    await results.return();
    span?.end();
  }
}

async function* traceUtterances(
  results: AsyncGenerator<Recognition, void, undefined>,
  attributes: Readonly<Record<string, string>>,
): AsyncGenerator<Recognition, void, undefined> {
  const parent = currentTraceparent();
  let earliestMs = Date.now();
  for await (const result of results) {
    if (result.isFinal) {
      const [first] = result.alternatives[0]?.words ?? [];
      const utteranceMs = Math.max(0, result.audioEndMs - (first?.startMs ?? result.audioEndMs));
      // Audio may be sent faster than it was spoken.
      const startMs = Math.max(earliestMs, Date.now() - utteranceMs);
      const effort = result.effort && { "hlust.effort": result.effort };
      const facts = { ...attributes, ...effort, "hlust.utterance_ms": Math.round(utteranceMs) };
      startSpan("utterance", { parent, startMs, attributes: facts })?.end();
      earliestMs = Date.now();
    }
    yield result;
  }
}
