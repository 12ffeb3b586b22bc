import { readdirSync, readFileSync } from "node:fs";
import { setInterval } from "node:timers";

/** Watches the decoders below this process, and records their peak use of resources. */
export class DecoderWatch implements Disposable {
  /** The peak memory of all decoders together, in bytes. */
  peakRss = 0;
  /** The peak CPU time of one decoder, in seconds. */
  peakCpuSeconds = 0;
  readonly #timer = setInterval(() => this.#look(), 50);

  #look(): void {
    const decoders = runningDecoders();
    this.peakRss = Math.max(
      this.peakRss,
      decoders.reduce((sum, { rss }) => sum + rss, 0),
    );
    for (const { cpuSeconds } of decoders) {
      this.peakCpuSeconds = Math.max(this.peakCpuSeconds, cpuSeconds);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

export interface RunningDecoder {
  readonly pid: number;
  readonly name: string;
  readonly rss: number;
  readonly cpuSeconds: number;
}

const names = /^(bwrap|ffmpeg|ffprobe|prlimit|setpriv|nice)$/;
const [pageBytes, ticksPerSecond] = [4096, 100];

/** Returns the decoders that are currently running below a process. */
export function runningDecoders(parent = process.pid): RunningDecoder[] {
  return childrenOf(parent).flatMap((pid) => decodersFrom(pid));
}

function decodersFrom(pid: number): RunningDecoder[] {
  const stat = tryRead(`/proc/${pid}/stat`);
  const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
  if (!names.test(name)) return [];
  // The fields begin with the third one, which is the state.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  const own = { pid, name, rss: Number(fields[21]) * pageBytes, cpuSeconds };
  return [own, ...childrenOf(pid).flatMap((child) => decodersFrom(child))];
}

function childrenOf(pid: number): number[] {
  return tryList(`/proc/${pid}/task`).flatMap((thread) =>
    tryRead(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
}

/** Reads a file; returns an empty text if the process has ended in the meantime. */
function tryRead(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function tryList(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
