import { probeMedia, type MediaProbe } from "../audio/probe-media.ts";
import type { Sandbox } from "../audio/sandbox.ts";
import type { Caller } from "../auth/caller.ts";
import type { Meter } from "../auth/meter.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import type { Segment } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { SpeakerDetector } from "../jobs/worker/detect-speakers.ts";
import type { EngineSlots } from "../jobs/worker/engine-slots.ts";
import { JobProgress } from "../jobs/worker/job-progress.ts";
import { transcribeMedia } from "../jobs/worker/transcribe-media.ts";
import { audioSecondsMax } from "../speech/recognize.ts";
import { msOfDuration } from "../std/duration.ts";
import type { FairSemaphore } from "../std/fair-semaphore.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import type { SpokenSegment } from "../transcripts/spoken.ts";
import type { AccountHints } from "../vocabulary/account-hints.ts";
import { LiveWriter } from "../writing/live-writer.ts";
import type { WritingChoice, WritingOptions } from "../writing/write-words.ts";

/** What runs at the same time; accounts take turns. */
export interface RecordingTurns {
  /** The recordings that are decoded. */
  readonly recordings: FairSemaphore;
  /** The pieces that are recognized. */
  readonly slots: EngineSlots;
}

export interface RecordingParts {
  readonly sandbox: Sandbox;
  readonly recognizer: Recognizer;
  readonly meter: Pick<Meter, "checkAudio" | "recognizeShort">;
  readonly accountHints: AccountHints;
  /** The turns of short recordings, which never wait for the pieces of long ones. */
  readonly shortTurns: RecordingTurns;
  readonly longTurns: RecordingTurns;
  readonly durationMsMax: number;
  readonly log: Log;
}

/** A recording and how to transcribe it. */
export interface RecordingCall {
  /** The path of the recording. */
  readonly file: string;
  readonly caller: Caller;
  /** How words are written, and their language, which must be installed. */
  readonly writing: WritingOptions;
  readonly hints: readonly Hint[];
  /** Whether to distinguish speakers; needs a diarization model. */
  readonly detectsSpeakers: boolean;
  /**
   * Called with segments that will not change, in order. Not called if speakers are distinguished.
   */
  readonly onSegments?: (segments: readonly SpokenSegment[]) => void;
  readonly signal: AbortSignal;
}

/** How text is written for clients that cannot choose: digits, capitals and marks. */
export const readableText: WritingChoice = {
  formats: true,
  punctuation: true,
  masksProfanity: false,
};

export interface TranscribedRecording {
  readonly segments: readonly SpokenSegment[];
  readonly durationMs: number;
}

/**
 * Transcribes a recording while its caller waits, without a job and without a transcript. Uses
 * nothing but the file. Throws the errors of the decoder (MEDIA_INVALID and others), of the
 * account's limits, and the signal's reason.
 */
export async function transcribeRecording(
  parts: RecordingParts,
  call: RecordingCall,
): Promise<TranscribedRecording> {
  const { shortTurns, longTurns, sandbox, durationMsMax, meter } = parts;
  const { file, signal, caller } = call;
  await meter.checkAudio(caller);
  const inTurn = async <T>({ recordings }: RecordingTurns, run: () => Promise<T>): Promise<T> =>
    await recordings.run(caller.accountId, signal, run);
  const facts = await inTurn(shortTurns, async () =>
    probeMedia({ file, sandbox, durationMsMax, signal }),
  );
  const turns = isShort(facts) ? shortTurns : longTurns;
  return await inTurn(turns, async () => transcribe(parts, { ...call, facts, slots: turns.slots }));
}

async function transcribe(
  parts: RecordingParts,
  call: RecordingCall & { readonly facts: MediaProbe; readonly slots: EngineSlots },
): Promise<TranscribedRecording> {
  const { recognizer, sandbox, meter, durationMsMax, log } = parts;
  const { file, facts, slots, caller, writing, detectsSpeakers, signal, onSegments } = call;
  const { accountId } = caller;
  const mode = isShort(facts) ? "short" : "job";
  const { languageCode } = writing;
  const hints = recognizer.takesHints(languageCode, mode)
    ? await parts.accountHints.extend(call.hints, { accountId, languageCode })
    : undefined;
  const writer = new LiveWriter(writing);
  const inOrder = new PiecesInOrder((found) =>
    onSegments?.(found.map((segment) => written(spokenSegment(segment), writer))),
  );
  using speakers = detectsSpeakers ? openDetector(recognizer, signal, log) : undefined;
  const id = newId();
  const { segments, durationMs } = await transcribeMedia(
    { sandbox, recognizer, durationMsMax },
    {
      attempt: {
        progress: new JobProgress(),
        takeEngine: (waiting) => slots.take({ id, accountId }, waiting),
        signal,
        stopping: neverStops,
      },
      recording: { file, facts },
      mode,
      languageCode,
      hints: hints ?? [],
      writing,
      known: new Map(),
      async keep(piece, { segments: found }) {
        // Audio counts once it is recognized. The limit of the day ends a recording in its middle.
        await meter.recognizeShort(caller, piece.endMs - piece.startMs, async () => {});
        if (onSegments && !detectsSpeakers) inOrder.add(piece.index, found);
      },
      speakers,
    },
  );
  return { segments: segments.map(spokenSegment), durationMs };
}

/** Whether a recording is recognized as speech:recognize recognizes it, before all jobs. */
function isShort({ durationMs }: MediaProbe): boolean {
  return durationMs !== undefined && durationMs < audioSecondsMax * 1000;
}

/** The call itself ends when the service stops: nothing is kept of a half. */
const neverStops = new AbortController().signal;

function openDetector(recognizer: Recognizer, signal: AbortSignal, log: Log): SpeakerDetector {
  if (!recognizer.canDiarize()) {
    throw new ServiceError("failed_precondition", "no diarization model is installed");
  }
  recognizer.checkDiarizer();
  return new SpeakerDetector({
    recognizer,
    known: new Map(),
    keep: async () => {},
    signal,
    log,
  });
}

/** Passes on the segments of pieces in the order of the recording. */
class PiecesInOrder {
  readonly #pass: (segments: readonly Segment[]) => void;
  readonly #waiting = new Map<number, readonly Segment[]>();
  #next = 0;

  constructor(pass: (segments: readonly Segment[]) => void) {
    this.#pass = pass;
  }

  add(index: number, segments: readonly Segment[]): void {
    this.#waiting.set(index, segments);
    for (;;) {
      const next = this.#waiting.get(this.#next);
      if (!next) return;
      this.#waiting.delete(this.#next++);
      if (next.length > 0) this.#pass(next);
    }
  }
}

/** Returns a segment as plain data, with a space after each word (§2.3). */
function spokenSegment({ startTime, endTime, speakerId, words }: Segment): SpokenSegment {
  const msOf = (time: Segment["startTime"]): number => (time ? msOfDuration(time) : 0);
  return {
    startMs: msOf(startTime),
    endMs: msOf(endTime),
    speakerId,
    words: words.map(({ word, startTime: start, endTime: end, confidence, spoken }) => ({
      text: `${word.trim()} `,
      startMs: msOf(start),
      endMs: msOf(end),
      ...(confidence !== undefined && { confidence }),
      ...(spoken !== undefined && { spoken }),
    })),
  };
}

/** Returns a segment with its words as people write them: it cannot wait for the next one. */
function written(segment: SpokenSegment, writer: LiveWriter): SpokenSegment {
  const spoken = segment.words.map((word) => ({ ...word, text: word.text.trim() }));
  const words = writer.final(spoken).map(({ text, startMs, endMs, confidence }) => ({
    text: `${text} `,
    startMs,
    endMs,
    ...(confidence !== undefined && { confidence }),
  }));
  return { ...segment, words };
}
