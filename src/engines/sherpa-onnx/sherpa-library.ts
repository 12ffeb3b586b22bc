import { createRequire } from "node:module";

/** An object in the library's own memory, which is freed with the garbage collector. */
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
 * A configuration of the library: absent fields have its defaults, and unknown fields are ignored.
 */
export interface SherpaConfig {
  readonly [name: string]: string | number | SherpaConfig;
}

/** A turn of one speaker, in seconds. */
export interface DiarizedSegment {
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
}

/**
 * The part of sherpa-onnx-node 1.13.8 that is used, under its own names. Promises are work on its
 * own threads, for which the caller must keep references to the handles. A synchronous call that
 * cannot load a model ends the process.
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
  /** Applies to runs that begin from now on; each kind reads only some of it. */
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
 * Loads the library, 32 MB, at the first call. The package's own classes have no types, only wrap
 * these functions, and lack one that we need.
 */
export function loadSherpaLibrary(): SherpaLibrary {
  const library: SherpaLibrary = createRequire(import.meta.url)("sherpa-onnx-node/addon.js");
  return library;
}

/** 16-bit samples as the floats of the library. */
export function floatSamples(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let at = 0; at < samples.length; at++) floats[at] = (samples[at] ?? 0) / 32_768;
  return floats;
}
