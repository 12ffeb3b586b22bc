import type { Delay } from "./delays.ts";
import type { Link } from "./hearing.ts";
import type { MicrophoneProblem } from "./microphone.ts";
import { nothingSpoken, type Spoken } from "./spoken.ts";

/** What the page shows of a live session. Never changed: another one takes its place. */
export interface LiveState {
  /** Of the microphone. */
  readonly phase: "idle" | "opening" | "listening" | "closing" | "stopped";
  readonly languageCode: string;
  readonly deviceId: string | undefined;
  /**
   * Why there is no sound; `gone`: the microphone went in the middle; `full`: no more can be kept.
   */
  readonly problem: MicrophoneProblem | "gone" | "full" | undefined;
  /** Why there is silence. */
  readonly pause: "muted" | "suspended" | undefined;
  readonly link: Link;
  readonly spoken: Spoken;
  readonly word: Delay | undefined;
  readonly sentence: Delay | undefined;
  /** Whole seconds that were recorded. */
  readonly seconds: number;
  /** Whole seconds that the service has not been sent yet. */
  readonly unsentSeconds: number;
  readonly bytes: number;
  /** Seconds that the microphone had and the page did not get. */
  readonly lostSeconds: number;
  /** For seconds now there was nothing louder than a very quiet room. */
  readonly isSilent: boolean;
  /** The transcript whose words are saved already, while its sound is not. */
  readonly savedName: string | undefined;
}

export function idleState(languageCode: string): LiveState {
  return {
    phase: "idle",
    languageCode,
    deviceId: undefined,
    problem: undefined,
    pause: undefined,
    link: { kind: "idle" },
    spoken: nothingSpoken,
    word: undefined,
    sentence: undefined,
    seconds: 0,
    unsentSeconds: 0,
    bytes: 0,
    lostSeconds: 0,
    isSilent: false,
    savedName: undefined,
  };
}

/** Whether leaving would lose words. */
export function hasUnsaved({ phase, spoken, link }: LiveState): boolean {
  const isBusy = phase === "listening" || phase === "closing" || link.kind !== "idle";
  return isBusy || spoken.paragraphs.length > 0 || spoken.interim.length > 0;
}
