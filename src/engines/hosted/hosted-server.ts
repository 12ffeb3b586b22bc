import type { Hint, RecognitionMode } from "../protocol/engine.ts";

/** A word of an answer, as the server sent it. Times count from the start of the utterance. */
export interface ServerWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence?: number | undefined;
}

/** A reading of an answer, as the server sent it. */
export interface ServerReading {
  readonly text: string;
  readonly confidence?: number | undefined;
  /** Empty if the server gave no words with times. */
  readonly words: readonly ServerWord[];
}

/** One result of a server: readings of a part of an utterance, best first. */
export type ServerResult = readonly ServerReading[];

/** An utterance for a server. */
export interface ServerCall {
  readonly languageCode: string;
  readonly mode: RecognitionMode;
  readonly alternativesMax: number;
  readonly hints: readonly Hint[];
  /** Called with the text so far, by servers that send it. */
  readonly onPartial: (reading: ServerReading) => void;
  readonly signal: AbortSignal;
}

/** A protocol of servers that recognize speech. Both functions throw ServerFailure. */
export interface HostedServer {
  readonly takesHints: boolean;
  /** Whether the server gets the audio of this mode while it is spoken. */
  isStreamed(mode: RecognitionMode): boolean;
  /** How many calls the server works on at a time, if it is known to let the others wait. */
  readonly callsMax?: () => number | undefined;
  /** Recognizes an utterance, at 16 kHz. The results are of consecutive parts. */
  recognize(audio: AsyncIterable<Int16Array>, call: ServerCall): Promise<readonly ServerResult[]>;
  /** Resolves if the server answers and says nothing against its readiness. */
  probe(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** What the protocols need of a model card. */
export interface ServerSettings {
  readonly address: URL;
  readonly key: string | undefined;
  /** The certificates of authorities, as PEM; undefined for those of the system. */
  readonly authorities: string | undefined;
  /** The name of the model at the server; undefined if the server chooses. */
  readonly model: string | undefined;
  /** Replaces the language code of the card. */
  readonly languageCode: string | undefined;
  /** What an OpenAI-compatible server is asked for. */
  readonly responseFormat: "verbose_json" | "json";
}

/** The maximum size of an answer. An utterance has some kilobytes. */
export const answerBytesMax = 1 << 20;
/** The maximum time for a connection. */
export const connectMsMax = 5000;
