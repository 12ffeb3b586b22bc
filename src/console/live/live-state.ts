import type { Delay } from "./delays.ts";
import type { Connection } from "./live-recognition.ts";
import type { MicrophoneProblem } from "./microphone.ts";
import { nothingSpoken, type Spoken } from "./spoken.ts";

/** The state of a live session, as the page shows it. Immutable. */
export interface LiveState {
  /** The phase of the microphone. */
  readonly phase: "idle" | "opening" | "listening" | "closing" | "stopped";
  readonly languageCode: string;
  readonly deviceId: string | undefined;
  /**
   * Why there is no audio. `gone` means that the microphone was disconnected while listening;
   * `full` means that the recording has reached its maximum length.
   */
  readonly problem: MicrophoneProblem | "gone" | "full" | undefined;
  /** Why the audio is silent. */
  readonly pause: "muted" | "suspended" | undefined;
  readonly connection: Connection;
  readonly spoken: Spoken;
  readonly word: Delay | undefined;
  readonly sentence: Delay | undefined;
  /** The length of the recording, in whole seconds. */
  readonly seconds: number;
  /** The length of the recording that has not been sent to the service yet, in whole seconds. */
  readonly unsentSeconds: number;
  readonly bytes: number;
  /** The seconds that were captured but did not reach the page. */
  readonly lostSeconds: number;
  /** Whether nothing louder than a very quiet room was recorded for some seconds. */
  readonly isSilent: boolean;
  /** The name of the transcript, if its text is already saved and its audio is not. */
  readonly savedName: string | undefined;
  /** Whether the browser has refused to store the recording, so that it is lost with the page. */
  readonly isUnstored: boolean;
}

export function idleState(languageCode: string): LiveState {
  return {
    phase: "idle",
    languageCode,
    deviceId: undefined,
    problem: undefined,
    pause: undefined,
    connection: { kind: "idle" },
    spoken: nothingSpoken,
    word: undefined,
    sentence: undefined,
    seconds: 0,
    unsentSeconds: 0,
    bytes: 0,
    lostSeconds: 0,
    isSilent: false,
    savedName: undefined,
    isUnstored: false,
  };
}

/** Returns whether leaving the page would lose words. */
export function hasUnsaved({ phase, spoken, connection }: LiveState): boolean {
  const isBusy = phase === "listening" || phase === "closing" || connection.kind !== "idle";
  return isBusy || spoken.paragraphs.length > 0 || spoken.interim.length > 0;
}
