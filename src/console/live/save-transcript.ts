import type {
  CreateTranscriptResponseJson,
  ListTranscriptsResponseJson,
  TranscriptJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../api/call-api.ts";
import type { Pause } from "../upload/pause.ts";
import { type Transfer, uploadFile } from "../upload/upload-file.ts";
import { initUpload } from "../upload/upload-place.ts";
import type { Recording } from "./recording.ts";
import type { Utterance } from "./spoken.ts";

/**
 * Says in a transcript's additionalMetadata which recording it is of, so that one whose answer got
 * lost is found again.
 */
const recordingKey = "console.recording";

/** What a transcript of live speech is made of. */
export interface Draft {
  readonly subject: string;
  readonly languageCode: string;
  readonly utterances: readonly Utterance[];
}

/**
 * Saves live speech as a transcript with its sound: first the words (§4.5), then the media of that
 * transcript (§4.7). What fails can be tried again with the same object, and goes on where it
 * failed: never a second transcript.
 */
export class TranscriptSaving {
  readonly #id = crypto.randomUUID();
  #isTried = false;
  #name: string | undefined;
  readonly #owner: string;

  /** `owner`: who has spoken (identityOf). */
  constructor(owner: string) {
    this.#owner = owner;
  }

  /** The transcript, once its words are saved: from then on only its sound is missing. */
  get name(): string | undefined {
    return this.#name;
  }

  /** Answers `transcripts/<id>`. Throws ApiError, or the reason of `signal`. */
  async save(
    draft: Draft,
    recording: Recording,
    options: {
      readonly signal: AbortSignal;
      /** Its end() does not wait any longer for a network that is gone. */
      readonly pause: Pause;
      /** How far the sound is, of so many bytes. */
      readonly onSound: (transfer: Transfer, bytes: number) => void;
    },
  ): Promise<string> {
    const { signal, pause, onSound } = options;
    this.#name ??= (await this.#find(signal)) ?? (await this.#create(draft, signal));
    const name = this.#name;
    const sound = recording.wav();
    await uploadFile(sound, {
      signal,
      pause,
      onChange: (transfer) => onSound(transfer, sound.size),
      begin: (signal) => initUpload(signal, { transcript: name, owner: this.#owner }),
    });
    return name;
  }

  async #create(draft: Draft, signal: AbortSignal): Promise<string> {
    const transcript = transcriptOf(draft, this.#id);
    this.#isTried = true;
    const { name } = await callApi<CreateTranscriptResponseJson>("/v1alpha1/transcripts", {
      method: "POST",
      body: transcript,
      signal,
      owner: this.#owner,
    });
    if (name === undefined) throw new Error("a new transcript has no name");
    return name;
  }

  /** One that was made although nothing was heard of it. */
  async #find(signal: AbortSignal): Promise<string | undefined> {
    if (!this.#isTried) return undefined;
    const path = "/v1alpha1/transcripts?pageSize=100";
    const { transcripts = [] } = await callApi<ListTranscriptsResponseJson>(path, {
      signal,
      owner: this.#owner,
    });
    const isIt = ({ metadata }: TranscriptJson): boolean =>
      metadata?.additionalMetadata?.[recordingKey] === this.#id;
    return transcripts.find(isIt)?.name;
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
      words: words.map(({ text, startMs, endMs }) => ({
        startTime: durationOf(startMs),
        endTime: durationOf(endMs),
        word: `${text} `,
      })),
    })),
  };
}

function durationOf(ms: number): string {
  return `${(ms / 1000).toFixed(3)}s`;
}
