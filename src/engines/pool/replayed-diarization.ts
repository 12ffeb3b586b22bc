import type { Log } from "../../std/log.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import type { WindowSpeakers } from "../protocol/recognizer.ts";
import { LiveDemand } from "./live-demand.ts";
import { replayWindow } from "./replay-window.ts";
import type { SessionClient } from "./session-client.ts";
import { windowOptions } from "./session-options.ts";
import type { SessionPlacement } from "./session-placement.ts";

/** A diarizer process ignores these options: it uses only the audio. */
const options = windowOptions("");

/** The diarization of one window, in as many processes as necessary: see replayWindow(). */
export class ReplayedDiarization implements SessionClient {
  readonly mode = "job";
  readonly sampleRateHertz = engineSampleRate;
  readonly demand = new LiveDemand(0);
  readonly fullDemand = 0;
  readonly uncommittedSeconds: number;
  readonly #window: Int16Array;
  readonly #placement: SessionPlacement;
  readonly #log: Log;
  #found: WindowSpeakers | undefined;

  constructor(window: Int16Array, placement: SessionPlacement, log: Log) {
    this.uncommittedSeconds = window.length / engineSampleRate;
    this.#window = window;
    this.#placement = placement;
    this.#log = log;
  }

  /** Returns who speaks in the window, to be called once. */
  async run(signal: AbortSignal): Promise<WindowSpeakers> {
    return await replayWindow(
      {
        client: this,
        payload: { options },
        placement: this.#placement,
        send: (session) => session.send(this.#window),
        found: () => this.#found,
        log: this.#log,
      },
      signal,
    );
  }

  speakers(speakers: WindowSpeakers): void {
    this.#found = speakers;
  }

  interim(): void {}

  committed(): void {}

  progress(): void {}
}
