/** Detects speech in a stream of 16 kHz samples (VAD). */
export interface VoiceActivity {
  /** The name of the detector, since no other one can restore its states. */
  readonly name: string;
  /** The number of samples per frame. */
  readonly frameSamples: number;
  /** The maximum number of frames between the start of speech and its detection. */
  readonly delayFrames: number;
  /**
   * The number of frames since the detector began to learn the noise floor. Speech that is found
   * soon after that may have begun at the same time.
   */
  readonly learnedFrames: number;
  /** Returns whether the next frame of the stream contains speech. */
  isSpeech(frame: Int16Array): boolean;
  /**
   * Returns the state that was learned from the stream, so that another process can continue
   * (engines/process/engine-session.ts).
   */
  save(): readonly number[];
  /** Restores a saved state in a new instance. */
  restore(saved: readonly number[]): void;
}
