import { createRequire } from "node:module";

/**
 * What the library has in its own memory; it is freed some time after nobody here holds it any
 * more.
 */
interface Handle<Kind extends string> {
  readonly kind: Kind;
}

export type OnlineRecognizer = Handle<"online recognizer">;
export type OnlineStream = Handle<"online stream">;
export type OfflineRecognizer = Handle<"offline recognizer">;
export type OfflineStream = Handle<"offline stream">;
export type SpeakerDiarization = Handle<"speaker diarization">;
export type EmbeddingExtractor = Handle<"embedding extractor">;

/** Samples from -1 to 1. */
export interface Waveform {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/**
 * A configuration of the library: absent fields have its own defaults, and those that it does not
 * know are not read.
 */
export interface SherpaConfig {
  readonly [name: string]: string | number | SherpaConfig;
}

/** A stretch of one speaker, in seconds. */
export interface DiarizedSegment {
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
}

/**
 * The part of sherpa-onnx-node 1.13.8 that is used, under its own names. What it waits for on its
 * own threads is a promise; nothing holds the handles meanwhile but the caller. A synchronous call
 * that cannot load a model ends the process.
 */
export interface SherpaLibrary {
  createOnlineRecognizer(config: SherpaConfig): OnlineRecognizer;
  createOnlineStream(recognizer: OnlineRecognizer): OnlineStream;
  acceptWaveformOnline(stream: OnlineStream, waveform: Waveform): void;
  inputFinished(stream: OnlineStream): void;
  isOnlineStreamReady(recognizer: OnlineRecognizer, stream: OnlineStream): boolean;
  /** Every stream must be ready. */
  decodeMultipleOnlineStreams(recognizer: OnlineRecognizer, streams: readonly OnlineStream[]): void;
  getOnlineStreamResultAsJson(recognizer: OnlineRecognizer, stream: OnlineStream): string;
  createOfflineRecognizerAsync(config: SherpaConfig): Promise<OfflineRecognizer>;
  /** For the runs that begin from now on: what a kind takes up of it. */
  offlineRecognizerSetConfig(recognizer: OfflineRecognizer, config: SherpaConfig): void;
  createOfflineStream(recognizer: OfflineRecognizer): OfflineStream;
  acceptWaveformOffline(stream: OfflineStream, waveform: Waveform): void;
  /** Resolves to the result as JSON. */
  decodeOfflineStreamAsync(recognizer: OfflineRecognizer, stream: OfflineStream): Promise<string>;
  createOfflineSpeakerDiarization(config: SherpaConfig): SpeakerDiarization;
  getOfflineSpeakerDiarizationSampleRate(diarization: SpeakerDiarization): number;
  offlineSpeakerDiarizationSetConfig(diarization: SpeakerDiarization, config: SherpaConfig): void;
  offlineSpeakerDiarizationProcessAsync(
    diarization: SpeakerDiarization,
    samples: Float32Array,
    progress: (done: number, total: number) => void,
  ): Promise<readonly DiarizedSegment[]>;
  createSpeakerEmbeddingExtractor(config: SherpaConfig): EmbeddingExtractor;
  speakerEmbeddingExtractorCreateStream(extractor: EmbeddingExtractor): OnlineStream;
  speakerEmbeddingExtractorIsReady(extractor: EmbeddingExtractor, stream: OnlineStream): boolean;
  speakerEmbeddingExtractorComputeEmbedding(
    extractor: EmbeddingExtractor,
    stream: OnlineStream,
    inItsOwnBuffer: boolean,
  ): Float32Array;
}

/**
 * Loads the library, 32 MB, when it is first asked for. The package's own classes have no types,
 * only wrap these functions, and leave one out that we need.
 */
export function loadSherpaLibrary(): SherpaLibrary {
  const library: SherpaLibrary = createRequire(import.meta.url)("sherpa-onnx-node/addon.js");
  return library;
}

/** 16-bit samples as the library takes them. */
export function floatSamples(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let at = 0; at < samples.length; at++) floats[at] = (samples[at] ?? 0) / 32_768;
  return floats;
}
