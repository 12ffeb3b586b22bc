import captureUrl from "./capture-worklet.ts?worker&url";

/**
 * Why there is no sound: `insecure` pages get no microphone; `refused` by the user or the device;
 * `missing`; `busy` elsewhere; `broken`.
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

/** A piece of sound: LINEAR16 of one channel. */
export interface Chunk {
  readonly samples: Int16Array<ArrayBuffer>;
  /** When its last sample was captured, in ms of Date.now(). */
  readonly endAt: number;
}

/** What a microphone tells while it is open. */
export interface MicrophoneEvents {
  readonly onChunk: (chunk: Chunk) => void;
  /** Nothing more comes by itself: unplugged, or no longer allowed. */
  readonly onGone: () => void;
  /**
   * `muted`: the device or the system gives silence. `suspended`: the browser has stopped
   * listening, until resume().
   */
  readonly onPause: (pause: "muted" | "suspended" | undefined) => void;
}

export interface Microphone {
  /** Samples a second. */
  readonly rate: number;
  readonly deviceId: string | undefined;
  /** Listens again after `suspended`: browsers want a press for it. */
  resume(): Promise<void>;
  /**
   * Lets go of the device; resolves when the last chunk was handed out, with the samples that are
   * missing among all of them.
   */
  close(): Promise<number>;
}

/** The service hears 8000 to 48000 samples a second (§8). */
const rateMax = 48_000;
/** An audio thread that says nothing for as long after it was told to end says nothing more. */
const lastChunkMsMax = 2_000;

/**
 * Opens a microphone. Of what browsers do to sound, echo cancellation and noise suppression are
 * off: they are made for calls, take consonants along with the noise, and models have learnt from
 * speech as it is. The automatic gain stays on: it only lifts who speaks softly. Throws
 * MicrophoneError.
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
  // It says nothing there, but some browsers let only what leads to the loudspeaker run.
  capture.connect(context.destination);
  const unwatch = watch(track, context, events);
  await context.resume();
  // Nothing is handed out before whoever opens it has it.
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
  // Not there on pages that are neither https nor of this machine.
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

/** At the device's own rate, unless what was said before has another. */
function contextOf(rate: number | undefined): AudioContext {
  if (rate !== undefined) return new AudioContext({ sampleRate: rate });
  const context = new AudioContext();
  if (context.sampleRate <= rateMax) return context;
  void context.close();
  return new AudioContext({ sampleRate: rateMax });
}

/** Resolves after the last chunk, with how many samples did not come. */
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
  const look = (): void => {
    if (context.state !== "running") onPause("suspended");
    else onPause(track.muted ? "muted" : undefined);
  };
  track.addEventListener("ended", onGone, { signal });
  for (const name of ["mute", "unmute"]) track.addEventListener(name, look, { signal });
  context.addEventListener("statechange", look, { signal });
  return () => unwatch.abort();
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
