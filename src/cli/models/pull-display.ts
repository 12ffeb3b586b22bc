import { megabytes } from "../../models/disk-room.ts";
import type { PullProgress } from "../../models/pull-model.ts";

/**
 * The output for progress: a terminal, on which one line is redrawn, or a file, to which a line is
 * written for each tenth of the download.
 */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  /** The current width of the terminal; 0 or undefined if it is unknown. */
  readonly columns?: number;
  write(text: string): unknown;
}

const barWidth = 16;
/** The assumed width of a terminal whose width is unknown. */
const columnsDefault = 80;
const redrawMs = 100;
/** The download rate is measured over this time. */
const rateMs = 5000;

const phases: Readonly<Record<PullProgress["phase"], string>> = {
  download: "",
  check: "verifying the checksum",
  unpack: "unpacking ",
  verify: "testing the model",
  install: "installing",
};

/** Returns whether a phase takes long enough for a bar. */
function hasBar(phase: PullProgress["phase"]): boolean {
  return phase === "download" || phase === "unpack";
}

/** Shows the progress of a pull. */
export class PullDisplay {
  readonly #output: ProgressOutput;
  readonly #now: () => number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #phase: PullProgress["phase"] | undefined;
  #tenths = -1;
  #samples: { readonly at: number; readonly bytes: number }[] = [];

  constructor(output: ProgressOutput, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#now = now;
  }

  show(progress: PullProgress): void {
    this.#sample(progress);
    if (this.#output.isTTY === true) this.#draw(progress);
    else this.#print(progress);
    this.#phase = progress.phase;
  }

  /** Ends the progress line. */
  end(): void {
    if (this.#output.isTTY === true && this.#phase !== undefined) this.#output.write("\n");
  }

  #draw(progress: PullProgress): void {
    const isDone = progress.receivedBytes === progress.totalBytes;
    const isNews = progress.phase !== this.#phase || isDone;
    if (!isNews && this.#now() - this.#drawnAt < redrawMs) return;
    this.#drawnAt = this.#now();
    // A line that wraps cannot be redrawn. The last column is left for the cursor.
    const columns = this.#output.columns || columnsDefault;
    this.#output.write(`\r\u001B[K${this.#line(progress).slice(0, Math.max(0, columns - 1))}`);
  }

  #print(progress: PullProgress): void {
    const { phase, receivedBytes, totalBytes } = progress;
    const tenths = totalBytes === 0 ? 0 : Math.floor((10 * receivedBytes) / totalBytes);
    const isNews = phase !== this.#phase || (hasBar(phase) && tenths !== this.#tenths);
    if (!isNews) return;
    this.#tenths = tenths;
    this.#output.write(`${this.#line(progress)}\n`);
  }

  #line({ phase, receivedBytes, totalBytes }: PullProgress): string {
    if (!hasBar(phase)) return phases[phase];
    const part = totalBytes === 0 ? 0 : Math.min(1, receivedBytes / totalBytes);
    const bar = "=".repeat(Math.floor(part * barWidth)).padEnd(barWidth);
    const sizes = `${megabytes(receivedBytes)} of ${megabytes(totalBytes)}`;
    const percent = `${Math.floor(part * 100)} %`.padStart(5);
    return `${phases[phase]}[${bar}] ${percent}  ${sizes}${this.#pace(totalBytes - receivedBytes)}`;
  }

  /**
   * Returns the rate and the remaining time (", 12.3 MB/s, 1:05 left"); empty while the rate is
   * unknown.
   */
  #pace(remainingBytes: number): string {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.at - first.at < redrawMs) return "";
    const perSecond = (1000 * (last.bytes - first.bytes)) / (last.at - first.at);
    if (perSecond <= 0) return "";
    const seconds = Math.ceil(remainingBytes / perSecond);
    const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    return `, ${megabytes(perSecond)}/s, ${left} left`;
  }

  #sample({ phase, receivedBytes }: PullProgress): void {
    const at = this.#now();
    const isNewStart = receivedBytes < (this.#samples.at(-1)?.bytes ?? 0);
    if (phase !== this.#phase || isNewStart) this.#samples = [];
    const last = this.#samples.at(-1);
    if (last && at - last.at < redrawMs / 2) return;
    this.#samples.push({ at, bytes: receivedBytes });
    while ((this.#samples[0]?.at ?? at) < at - rateMs) this.#samples.shift();
  }
}
