import { execFile } from "node:child_process";
import { cp, mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "node_modules/.tools/livekit");
const packages = join(import.meta.dirname, "livekit");
const lock = "package-lock.json";
/** What npm reports where it cannot reach the registry. */
const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ENOTCACHED/;

/** Frames of samples, as LiveKit's agents pass them. */
export interface Frame {
  readonly data: Int16Array;
}

export interface SpeechEvent {
  readonly type: number;
  readonly alternatives?: readonly {
    readonly text: string;
    readonly language: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly words?: readonly { readonly text: string }[];
  }[];
}

export interface SpeechStream extends AsyncIterable<SpeechEvent> {
  pushFrame(frame: Frame): void;
  flush(): void;
  endInput(): void;
  close(): void;
}

export interface SpeechToText {
  on(name: "error", handle: (event: { readonly error: Error }) => void): void;
  recognize(frame: Frame): Promise<SpeechEvent>;
  stream(): SpeechStream;
  updateOptions(options: object): void;
}

interface Plugin {
  readonly STT: new (options: object) => SpeechToText;
}

export interface LiveKit {
  readonly openai: Plugin;
  readonly deepgram: Plugin;
  readonly eventTypes: Readonly<Record<string, number>>;
  readonly AudioFrame: new (
    data: Int16Array,
    sampleRate: number,
    channels: number,
    samplesPerChannel: number,
  ) => Frame;
}

/**
 * Installs LiveKit's plug-ins without their scripts. They take 290 MB and so are not among the
 * packages of the project. Returns them, or the reason where npm has no network.
 */
export async function installLiveKit(): Promise<LiveKit | string> {
  const wanted = await readFile(join(packages, lock), "utf8");
  const installed = await readFile(join(folder, "installed"), "utf8").catch(() => "");
  if (installed !== wanted) {
    await mkdir(folder, { recursive: true });
    for (const name of ["package.json", lock, ".npmrc"]) {
      await cp(join(packages, name), join(folder, name));
    }
    try {
      await run("npm", ["ci", "--ignore-scripts", "--loglevel=error"], { cwd: folder });
    } catch (error) {
      // The message has what npm wrote to its standard error.
      if (!(error instanceof Error && offline.test(error.message))) throw error;
      return "npm could not install LiveKit's plug-ins, since it has no network";
    }
    await cp(join(packages, lock), join(folder, "installed"));
  }
  const agents = await load("agents");
  agents.initializeLogger({ pretty: false, level: "fatal" });
  return {
    openai: await load("agents-plugin-openai"),
    deepgram: await load("agents-plugin-deepgram"),
    eventTypes: agents.stt.SpeechEventType,
    AudioFrame: (await load("rtc-node")).AudioFrame,
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- the packages may not be installed
async function load(name: string): Promise<any> {
  const file = join(folder, "node_modules/@livekit", name, "dist/index.js");
  return await import(pathToFileURL(file).href);
}
