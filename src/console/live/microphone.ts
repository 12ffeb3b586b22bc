import captureUrl from "./capture-worklet.ts?worker&url";

/**
 * Why there is no audio. `insecure`: the page was not loaded securely. `refused`: the user or the
 * device refused access. `missing`: there is no microphone. `busy`: another program is using the
 * microphone. `broken`: the microphone failed for another reason.
 */
export type MicrophoneProblem = "insecure" | "refused" | "missing" | "busy" | "broken";

/** A microphone that cannot be opened. */
export class MicrophoneError extends Error {
  override readonly name = "MicrophoneError";
  readonly problem: MicrophoneProblem;

  constructor(problem: MicrophoneProblem, cause?: unknown) {
    super(`no microphone: ${problem}`, { cause });
    this.problem = problem;
  }
}

/** A chunk of audio: LINEAR16, one channel. */
export interface Chunk {
  readonly samples: Int16Array<ArrayBuffer>;
  /** The time at which the last sample was captured, in ms of Date.now(). */
  readonly endAt: number;
}

/** The events of an open microphone. */
export interface MicrophoneEvents {
  readonly onChunk: (chunk: Chunk) => void;
  /**
   * Called when no more audio will arrive: the microphone was disconnected, or is no longer
   * allowed.
   */
  readonly onGone: () => void;
  /**
   * Called when a pause begins or ends. `muted`: the device or the system delivers silence.
   * `suspended`: the browser has stopped listening until resume() is called.
   */
  readonly onPause: (pause: "muted" | "suspended" | undefined) => void;
}

export interface Microphone {
  /** The number of samples per second. */
  readonly rate: number;
  readonly deviceId: string | undefined;
  /** Resumes listening after `suspended`. Browsers require a user action for this. */
  resume(): Promise<void>;
  /**
   * Releases the device. Resolves when the last chunk has been delivered, with the number of
   * samples that were lost.
   */
  close(): Promise<number>;
}

/** The maximum rate: the service accepts 8,000 to 48,000 samples per second (§8). */
const rateMax = 48_000;
/** How long close() waits for the last chunk from the audio thread. */
const lastChunkMsMax = 2_000;

/**
 * Opens a microphone. The browser's echo cancellation and noise suppression are off: they are
 * designed for calls and remove consonants along with the noise, but models are trained on
 * unprocessed speech. Automatic gain control stays on, because it only amplifies quiet speech.
 * Throws MicrophoneError.
 */
export async function openMicrophone(
  wanted: { readonly deviceId: string | undefined; readonly rate: number | undefined },
  events: MicrophoneEvents,
): Promise<Microphone> {
  const stream = await openStream(wanted.deviceId);
  let context: AudioContext | undefined;
  try {
    const [track] = stream.getAudioTracks();
    if (!track) throw new MicrophoneError("missing");
    context = contextOf(wanted.rate);
    return await listen(track, context, events);
  } catch (error) {
    for (const each of stream.getTracks()) each.stop();
    await context?.close();
    throw error instanceof MicrophoneError ? error : new MicrophoneError("broken", error);
  }
}

async function listen(
  track: MediaStreamTrack,
  context: AudioContext,
  events: MicrophoneEvents,
): Promise<Microphone> {
  await context.audioWorklet.addModule(captureUrl);
  const source = context.createMediaStreamSource(new MediaStream([track]));
  const capture = new AudioWorkletNode(context, "capture", {
    channelCount: 1,
    channelCountMode: "explicit",
  });
  source.connect(capture);
  // The node outputs silence, but some browsers run only nodes that are connected to the
  // loudspeaker.
  capture.connect(context.destination);
  const unwatch = watch(track, context, events);
  await context.resume();
  // Chunks are delivered only after the caller has received the microphone.
  const last = takeChunks(capture.port, events.onChunk);
  return {
    rate: context.sampleRate,
    deviceId: track.getSettings().deviceId,
    resume: () => context.resume(),
    async close() {
      unwatch();
      capture.port.postMessage("end", []);
      const lost = await Promise.race([last, wait(lastChunkMsMax)]);
      track.stop();
      await context.close();
      return lost ?? 0;
    },
  };
}

async function openStream(deviceId: string | undefined): Promise<MediaStream> {
  // Pages that were loaded neither over https nor from this machine have no mediaDevices.
  if (!isSecureContext || !("mediaDevices" in navigator)) throw new MicrophoneError("insecure");
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: {
        channelCount: 1,
        echoCancellation: false,
        noiseSuppression: false,
        autoGainControl: true,
        ...(deviceId !== undefined && { deviceId: { exact: deviceId } }),
      },
    });
  } catch (error) {
    throw new MicrophoneError(problemOf(error), error);
  }
}

function problemOf(error: unknown): MicrophoneProblem {
  switch (error instanceof DOMException ? error.name : "") {
    case "NotAllowedError":
    case "SecurityError":
      return "refused";
    case "NotFoundError":
    case "OverconstrainedError":
      return "missing";
    case "NotReadableError":
    case "AbortError":
      return "busy";
    default:
      return "broken";
  }
}

/**
 * Creates a context with the rate of the existing recording, or else with the device's own rate.
 */
function contextOf(rate: number | undefined): AudioContext {
  if (rate !== undefined) return new AudioContext({ sampleRate: rate });
  const context = new AudioContext();
  if (context.sampleRate <= rateMax) return context;
  void context.close();
  return new AudioContext({ sampleRate: rateMax });
}

/**
 * Passes on the chunks. Resolves after the last chunk, with the number of samples that did not
 * arrive.
 */
function takeChunks(port: MessagePort, onChunk: (chunk: Chunk) => void): Promise<number> {
  let taken = 0;
  return new Promise((resolve) => {
    port.addEventListener("message", ({ data }: MessageEvent<Chunk | number>) => {
      if (typeof data === "number") {
        resolve(data - taken);
        return;
      }
      taken += data.samples.length;
      onChunk(data);
    });
    port.start();
  });
}

function watch(
  track: MediaStreamTrack,
  context: AudioContext,
  { onGone, onPause }: MicrophoneEvents,
): () => void {
  const unwatch = new AbortController();
  const { signal } = unwatch;
  const report = (): void => {
    if (context.state !== "running") onPause("suspended");
    else onPause(track.muted ? "muted" : undefined);
  };
  track.addEventListener("ended", onGone, { signal });
  for (const name of ["mute", "unmute"]) track.addEventListener(name, report, { signal });
  context.addEventListener("statechange", report, { signal });
  return () => unwatch.abort();
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
