import {
  TranscriptSchema,
  type Transcript,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { mediaPath, waveformPath } from "../media/media-records.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import { attachRawField } from "../std/raw-field.ts";
import { unpackSegmentsSync } from "./segments.ts";
import { runInWorkerThread } from "./worker-threads.ts";
import { transcriptMessage, type MediaLinks } from "./transcript-message.ts";
import type { StoredTranscript } from "./transcript-store.ts";
import { wireSegments } from "./wire-segments.ts";

/**
 * Creates the response with a stored transcript. Its segments are a raw field (std/raw-field.ts),
 * which is unpacked only for code that reads the segments.
 */
export function answerOf(
  parts: { readonly urls: SignedUrls },
  accountId: string,
  stored: StoredTranscript,
): Transcript {
  const answer = transcriptMessage(stored, linksOf(parts, stored), []);
  const { jsonZstd, jsonBytes, json } = stored.segments;
  const wire = async (signal: AbortSignal) =>
    await runInWorkerThread(
      wireSegments,
      { jsonZstd, jsonBytes },
      { bytes: jsonBytes, accountId, signal, use: "answers" },
    );
  const raw = {
    field: TranscriptSchema.field.segments,
    json: { jsonZstd, jsonBytes, json },
    wire,
  };
  attachRawField(answer, raw, () => unpackSegmentsSync(stored.segments));
  return answer;
}

/** Creates the signed URLs for a transcript's media. */
export function linksOf(
  { urls }: { readonly urls: Pick<SignedUrls, "sign"> },
  { media }: Pick<StoredTranscript, "media">,
): MediaLinks {
  const { id, hasWaveform } = media;
  if (id === undefined) return { uri: "", waveformUri: "" };
  const sign = (path: string): string => urls.sign({ method: "GET", path });
  return { uri: sign(mediaPath(id)), waveformUri: hasWaveform ? sign(waveformPath(id)) : "" };
}
