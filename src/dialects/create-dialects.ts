import { prepareScratchFolder } from "../describe/scratch-file.ts";
import type { EnginePool } from "../engines/pool/engine-pool.ts";
import { EngineSlots } from "../jobs/worker/engine-slots.ts";
import type { HttpDoor } from "../server/http.ts";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import type { SocketDialect } from "../server/dialect-sockets.ts";
import type { DialectCalls } from "../server/server-parts.ts";
import { createDialectsDoor } from "./dialects-door.ts";
import { createListenFile } from "./deepgram/listen-file.ts";
import { createListenSocket } from "./deepgram/listen-socket.ts";
import { createJambonzSocket } from "./jambonz/jambonz-socket.ts";
import type { LiveParts } from "./live-session.ts";
import { createClientSecrets, type SecretParts } from "./openai/realtime/client-secrets.ts";
import { createRealtimeSocket } from "./openai/realtime/realtime-socket.ts";
import { createOpenAi, type OpenAiParts } from "./openai/openai.ts";
import type { FormParts } from "./receive-form.ts";
import type { RecordingParts, RecordingTurns } from "./transcribe-recording.ts";
import { createVoskSocket } from "./vosk/vosk-socket.ts";
import { createWhisperAsr } from "./whisper/whisper-asr.ts";
import { createWhisperCpp } from "./whisper/whisper-cpp.ts";

/** The parts of the service that the dialects use. */
export interface DialectsParts extends Omit<
  RecordingParts,
  "shortTurns" | "longTurns" | "durationMsMax"
> {
  readonly recognizer: EnginePool;
  readonly meter: RecordingParts["meter"] & LiveParts["meter"];
  readonly decoding: LiveParts["decoding"];
  readonly limits: LiveParts["limits"];
  readonly db: SecretParts["streamTokens"]["db"];
}

export interface DialectsOptions
  extends Pick<OpenAiParts, "defaultLanguage" | "durationMsMax">, FormParts {
  /** The number of pieces of recordings that are recognized at the same time. */
  readonly engineProcesses: number;
}

/** The doors of the dialects, over HTTP and over WebSocket. */
export interface OpenedDialects {
  readonly dialects: (door: DialectCalls) => HttpDoor;
  readonly socketDialects: readonly SocketDialect[];
}

/**
 * How long a recording waits for its turn. Its answer begins earlier, so that its client waits as
 * well.
 */
const waitMsMax = 3_600_000;
/** The calls of one account that wait with their recordings, which are on the disk. */
const waitingOfOne = 100;
/** The maximum size of raw samples, which are nine hours, for programs that send whole films. */
const rawBytesMax = 1 << 30;

/** Opens the dialects: protocols of other services, over the methods of this one. */
export async function openDialects(
  parts: DialectsParts,
  { engineProcesses, ...options }: DialectsOptions,
): Promise<OpenedDialects> {
  await prepareScratchFolder(options.scratchFolder);
  const shared: OpenAiParts = {
    ...parts,
    ...options,
    models: () => parts.recognizer.models(),
    shortTurns: turnsOf(2 * engineProcesses),
    longTurns: turnsOf(engineProcesses),
  };
  const whole = { ...shared, fileBytesMax: Math.max(options.fileBytesMax, rawBytesMax) };
  const live = { ...shared, ...parts };
  const dialects = [
    createOpenAi(shared),
    createWhisperCpp(shared),
    createWhisperAsr(whole),
    createListenFile(whole),
    createClientSecrets({ ...live, streamTokens: parts }),
  ];
  return {
    dialects: (door) => createDialectsDoor(dialects, door),
    socketDialects: [
      createListenSocket(live),
      createVoskSocket(live),
      createRealtimeSocket(live),
      createJambonzSocket(live),
    ],
  };
}

function turnsOf(pieces: number): RecordingTurns {
  const recordings = new FairSemaphore({
    // A decoder waits for the engines, so that a few more recordings than engines suffice.
    running: 2 * pieces + 2,
    runningOfOne: pieces + 1,
    waitingOfOne,
    waitMsMax,
    busyReason: "RECORDINGS_BUSY",
  });
  return { recordings, slots: new EngineSlots(pieces) };
}
