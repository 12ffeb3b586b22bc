import type {
  CreateTranscriptResponseJson,
  ListTranscriptsResponseJson,
  TranscriptJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../api/call-api.ts";
import type { Pause } from "../upload/pause.ts";
import { beginUpload } from "../upload/resumable-upload.ts";
import { type Transfer, uploadFile } from "../upload/upload-file.ts";
import type { LiveRecording } from "./live-recording.ts";
import type { Utterance } from "./spoken.ts";

/**
 * The key in a transcript's additionalMetadata whose value identifies the recording. If the
 * response to the transcript's creation is lost, the transcript is found again by this value.
 */
const recordingKey = "console.recording";

/** The content of a transcript created from live speech. */
export interface Draft {
  readonly subject: string;
  readonly languageCode: string;
  readonly utterances: readonly Utterance[];
}

/**
 * Saves live speech as a transcript with its audio: first the text (§4.5), then the media of that
 * transcript (§4.7). After a failure, the same object can be used again: it continues where it
 * failed, and never creates a second transcript.
 */
export class TranscriptSaving {
  /** Identifies the recording. */
  readonly id: string;
  #isAttempted: boolean;
  #name: string | undefined;
  readonly #owner: string;

  /**
   * `owner` is the user who spoke (identityOf). `id` is the recording's, if it may have been saved
   * already before the page was closed.
   */
  constructor(owner: string, id?: string) {
    this.#owner = owner;
    this.id = id ?? crypto.randomUUID();
    this.#isAttempted = id !== undefined;
  }

  /**
   * The name of the transcript once its text is saved. From then on, only its audio is missing.
   */
  get name(): string | undefined {
    return this.#name;
  }

  /**
   * Saves the transcript and returns `transcripts/<id>`. Throws ApiError, or the reason of
   * `signal`.
   */
  async save(
    draft: Draft,
    recording: LiveRecording,
    options: {
      readonly signal: AbortSignal;
      /**
       * The pause before the next attempt. Its end() starts that attempt immediately, if the
       * network was lost.
       */
      readonly pause: Pause;
      /** Called with the progress of the audio's upload, and the size of the audio in bytes. */
      readonly onUpload: (transfer: Transfer, bytes: number) => void;
    },
  ): Promise<string> {
    const { signal, pause, onUpload } = options;
    this.#name ??= (await this.#find(signal)) ?? (await this.#create(draft, signal));
    const name = this.#name;
    const audio = recording.wav();
    await uploadFile(audio, {
      signal,
      pause,
      onChange: (transfer) => onUpload(transfer, audio.size),
      begin: (signal) => beginUpload(signal, audio.size, { transcript: name, owner: this.#owner }),
    });
    return name;
  }

  async #create(draft: Draft, signal: AbortSignal): Promise<string> {
    const transcript = transcriptOf(draft, this.id);
    this.#isAttempted = true;
    const { name } = await callApi<CreateTranscriptResponseJson>("/v1alpha1/transcripts", {
      method: "POST",
      body: transcript,
      signal,
      owner: this.#owner,
    });
    if (name === undefined) throw new Error("a new transcript has no name");
    return name;
  }

  /** Returns the transcript if an earlier attempt created it and the response was lost. */
  async #find(signal: AbortSignal): Promise<string | undefined> {
    if (!this.#isAttempted) return undefined;
    const path = "/v1alpha1/transcripts?pageSize=100";
    const { transcripts = [] } = await callApi<ListTranscriptsResponseJson>(path, {
      signal,
      owner: this.#owner,
    });
    const isOwn = ({ metadata }: TranscriptJson): boolean =>
      metadata?.additionalMetadata?.[recordingKey] === this.id;
    return transcripts.find(isOwn)?.name;
  }
}

function transcriptOf(
  { subject, languageCode, utterances }: Draft,
  recordingId: string,
): TranscriptJson {
  return {
    metadata: {
      fileType: "AUDIO",
      languageCode,
      subject,
      additionalMetadata: { [recordingKey]: recordingId },
    },
    segments: utterances.map(({ words }) => ({
      startTime: durationOf(words[0]?.startMs ?? 0),
      endTime: durationOf(words.at(-1)?.endMs ?? 0),
      words: words.map(({ text, startMs, endMs, confidence, spoken, estimatedTimes }) => ({
        startTime: durationOf(startMs),
        endTime: durationOf(endMs),
        word: `${text} `,
        ...(confidence !== undefined && { confidence }),
        ...(spoken !== undefined && { spoken }),
        ...(estimatedTimes && { estimatedTimes }),
      })),
    })),
  };
}

function durationOf(ms: number): string {
  return `${(ms / 1000).toFixed(3)}s`;
}
