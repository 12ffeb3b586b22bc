import { createRequire } from "node:module";

/** An object in the library's own memory, which the garbage collector frees. */
interface Handle<Kind extends string> {
  readonly kind: Kind;
}

export type OnlineRecognizer = Handle<"online recognizer">;
export type OnlineStream = Handle<"online stream">;
export type OfflineRecognizer = Handle<"offline recognizer">;
export type OfflineStream = Handle<"offline stream">;
export type SpeakerDiarization = Handle<"speaker diarization">;
export type EmbeddingExtractor = Handle<"embedding extractor">;

/** Samples as floats from -1 to 1. */
export interface Waveform {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/**
 * A configuration of the library. Absent fields have the library's defaults, and unknown fields are
 * ignored.
 */
export interface SherpaConfig {
  readonly [name: string]: string | number | SherpaConfig;
}

/** A turn of one speaker, with times in seconds. */
export interface DiarizedSegment {
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
}

/**
 * The functions of sherpa-onnx-node 1.13.8 that are used, under their original names. Those that
 * return promises work on the library's own threads, and the caller must keep references to the
 * handles until they settle. A synchronous call that cannot load a model ends the process.
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
  /** Applies to runs that begin afterwards. Each kind reads only some of the config. */
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
 * Loads the library, 32 MB, at the first call. The package's own classes are not used: they have no
 * types, only wrap these functions, and lack one that is needed here.
 */
export function loadSherpaLibrary(): SherpaLibrary {
  const library: SherpaLibrary = createRequire(import.meta.url)("sherpa-onnx-node/addon.js");
  return library;
}

/** Converts 16-bit samples to the floats of the library. */
export function floatSamples(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let at = 0; at < samples.length; at++) floats[at] = (samples[at] ?? 0) / 32_768;
  return floats;
}
