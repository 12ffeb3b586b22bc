import { setTimeout as sleep } from "node:timers/promises";
import { decodeAudio, decodedSampleRate } from "../../audio/decode.ts";
import type { Sandbox } from "../../audio/sandbox.ts";
import type {
  Recognition,
  RecognitionOptions,
  Recognizer,
} from "../../engines/protocol/recognizer.ts";
import { engineFailed, noEngine } from "../../engines/protocol/engine-absence.ts";
import type { Hint } from "../../engines/protocol/engine.ts";
import type { KeptOutputs } from "../../engines/protocol/kept-outputs.ts";
import type { Segment } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { MediaFacts } from "../../media/media-facts.ts";
import { ServiceError } from "../../std/service-error.ts";
import { reasonOf, startSpan } from "../../tracing/tracing.ts";
import { assignSpeakers } from "./assign-speakers.ts";
import { cutPieces, type Piece } from "./cut-pieces.ts";
import { keepingPeaks, type KeepPeaks } from "../../describe/describe-media.ts";
import type { SpeakerDetector } from "./detect-speakers.ts";
import type { JobAttempt } from "./job-attempt.ts";
import type { StoredPiece } from "./job-checkpoints.ts";
import { attemptsMax } from "../../database/lease.ts";
import type { Recording } from "./open-recording.ts";
import type { WritingChoice } from "../../writing/write-words.ts";
import { joinSegments, segmentsOfPiece } from "./piece-segments.ts";
import { writeSegments } from "./write-segments.ts";

export interface TranscribeParts {
  readonly sandbox: Sandbox;
  readonly recognizer: Recognizer;
  readonly durationMsMax: number;
  /** The wait before a piece is recognized again after its engine was lost. Default 250. */
  readonly retryMs?: number;
}

export interface TranscribeOptions {
  readonly attempt: Pick<JobAttempt, "progress" | "takeEngine" | "signal" | "stopping">;
  readonly recording: Pick<Recording, "file" | "facts" | "onBytes">;
  readonly languageCode: string;
  /** The name of the model. Default: the one that serves the language. */
  readonly model?: string;
  /** "short" for a recording of seconds whose caller waits. Default: "job". */
  readonly mode?: "short" | "job";
  /** Default: none. */
  readonly hints?: readonly Hint[];
  /** How the text is written. Default: the words as they are. */
  readonly writing?: WritingChoice | null;
  /** The pieces that earlier attempts kept. */
  readonly known: ReadonlyMap<number, StoredPiece>;
  /** Called with each new result. The piece counts once the promise resolves. */
  readonly keep: (piece: Piece, recognized: RecognizedPiece) => Promise<void>;
  /** Whether `keep` receives the outputs of the model. Default false. */
  readonly keepsOutputs?: boolean;
  /** Called with the parts of the waveform in order, if the waveform is needed. */
  readonly keepPeaks?: KeepPeaks | undefined;
  /** Receives every piece, if speakers are to be detected. */
  readonly speakers?: SpeakerDetector | undefined;
}

/** The result for a piece. */
export interface RecognizedPiece {
  readonly segments: readonly Segment[];
  /**
   * The outputs of the model, with times from the start of the piece; undefined if its engine keeps
   * none, or if they are too many.
   */
  readonly outputs: KeptOutputs | undefined;
}

/** The maximum outputs of a second: nearly 2 MB for an hour. Speech has about 200 bytes. */
const outputBytesPerSecondMax = 500;

export interface Transcription extends MediaFacts {
  readonly segments: Segment[];
}

/**
 * Decodes media, cuts it at pauses, recognizes the pieces in parallel and joins the results. Throws
 * ServiceError for the caller.
 */
export async function transcribeMedia(
  parts: TranscribeParts,
  options: TranscribeOptions,
): Promise<Transcription> {
  const { attempt, recording, known, keep, keepPeaks, speakers } = options;
  const { progress, stopping } = attempt;
  const { sandbox, durationMsMax } = parts;
  const failure = new AbortController();
  const signal = AbortSignal.any([attempt.signal, failure.signal]);
  const fail = (error: unknown): void => {
    failure.abort(error);
    speakers?.[Symbol.dispose]();
  };
  const { facts } = recording;
  const results: (readonly Segment[])[] = [];
  const running = new Set<Promise<void>>();
  progress.reaches(facts.durationMs ?? 0);
  let durationMs = 0;
  const recognize = async (piece: Piece, release: () => void): Promise<void> => {
    try {
      const onProgress = (ms: number): void => progress.processed(piece, ms);
      const recognized = await recognizePiece(parts, piece, {
        languageCode: options.languageCode,
        ...(options.model !== undefined && { model: options.model }),
        mode: options.mode ?? "job",
        hints: options.hints ?? [],
        keepsOutputs: options.keepsOutputs ?? false,
        onProgress,
        signal,
      });
      await keep(piece, recognized);
      results[piece.index] = recognized.segments;
      progress.done(piece, { isKnown: false });
    } catch (error) {
      fail(error);
    } finally {
      release();
    }
  };
  const decoding = startSpan("decode");
  try {
    const turn = AbortSignal.any([signal, stopping]);
    const decoded = decodeAudio({ ...recording, sandbox, signal, durationMsMax });
    const samples = keepPeaks ? keepingPeaks(decoded, keepPeaks) : decoded;
    for await (const piece of cutPieces(samples, decodedSampleRate)) {
      durationMs = piece.endMs;
      progress.reaches(durationMs);
      await speakers?.take(piece);
      const kept = known.get(piece.index);
      if (kept?.startMs === piece.startMs && kept.endMs === piece.endMs) {
        results[piece.index] = kept.segments;
        progress.done(piece, { isKnown: true });
        continue;
      }
      const task = recognize(piece, await attempt.takeEngine(turn));
      running.add(task);
      void task.then(() => running.delete(task));
    }
  } catch (error) {
    if (!stopping.aborted || error !== stopping.reason) fail(error);
    decoding?.fail(reasonOf(error));
  } finally {
    decoding?.set({ "hlust.audio_ms": durationMs });
    decoding?.end();
  }
  await Promise.all(running);
  signal.throwIfAborted();
  stopping.throwIfAborted();
  const spans = (await speakers?.end()) ?? [];
  signal.throwIfAborted();
  const spoken = assignSpeakers(joinSegments(results), spans);
  const { languageCode, writing } = options;
  const segments = writing ? await writeSegments(spoken, { languageCode, ...writing }) : spoken;
  signal.throwIfAborted();
  return { segments, durationMs, fileType: facts.fileType };
}

export const retryMsDefault = 250;

/** The reasons that last longer than the retries of a piece. */
const waitReasons: ReadonlySet<string> = new Set([noEngine, engineFailed]);

/** Recognizes a piece. Retries after a lost engine, and waits for a busy engine. */
async function recognizePiece(
  { recognizer, retryMs = retryMsDefault }: TranscribeParts,
  piece: Piece,
  {
    keepsOutputs,
    ...how
  }: Required<
    Pick<RecognitionOptions, "languageCode" | "mode" | "hints" | "onProgress" | "signal">
  > &
    Pick<RecognitionOptions, "model"> & {
      readonly keepsOutputs: boolean;
    },
): Promise<RecognizedPiece> {
  const { signal } = how;
  let waitMs = retryMs;
  for (let attempts = 1; ;) {
    try {
      const recognitions: Recognition[] = [];
      let outputs: KeptOutputs | undefined;
      const bytesMax = (outputBytesPerSecondMax * (piece.endMs - piece.startMs)) / 1000;
      const onOutputs = (all: KeptOutputs): void => {
        if (all.bytes.length <= bytesMax) outputs = all;
      };
      const kept = keepsOutputs && { onOutputs };
      const options = { ...how, ...kept, sampleRateHertz: decodedSampleRate };
      const recognition = recognizer.recognize(chunksOf(piece.samples), options);
      for await (const message of recognition) recognitions.push(message);
      signal.throwIfAborted();
      return { segments: segmentsOfPiece(recognitions, piece), outputs };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ServiceError)) throw error;
      // The job waits without a slot, so that jobs of other models get it.
      if (how.mode === "job" && waitReasons.has(error.reason)) throw error;
      const isBusy = error.code === "resource_exhausted";
      if (!isBusy && (error.code !== "unavailable" || attempts === attemptsMax)) throw error;
      await sleep(waitMs, undefined, { signal });
      if (!isBusy) {
        attempts++;
        waitMs *= 4;
      }
    }
  }
}

const chunkSamples = decodedSampleRate / 2;

function* chunksOf(samples: Int16Array): Generator<Int16Array, void, undefined> {
  for (let at = 0; at < samples.length; at += chunkSamples) {
    yield samples.subarray(at, at + chunkSamples);
  }
}
