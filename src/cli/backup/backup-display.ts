import type { Progress } from "../../backup/progress.ts";
import { megabytes } from "../../models/disk-room.ts";

const redrawMs = 200;
/** The interval between two lines that are not written to a terminal. */
const noteEveryMs = 30_000;

/** Shows progress: on a terminal one line that is redrawn, otherwise a line each 30 s. */
export class BackupDisplay {
  readonly #output: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly #now: () => number;
  #shownAt: number;
  #isDrawn = false;

  constructor(
    output: { readonly isTTY?: boolean; write(text: string): unknown },
    now: () => number = () => performance.now(),
  ) {
    this.#output = output;
    this.#now = now;
    this.#shownAt = now();
  }

  show({ phase, done, total, unit }: Progress): void {
    const isTerminal = this.#output.isTTY === true;
    const now = this.#now();
    if (now - this.#shownAt < (isTerminal ? redrawMs : noteEveryMs)) return;
    this.#shownAt = now;
    const of =
      unit === "bytes" ? `${megabytes(done)} of ${megabytes(total)}` : `${done} of ${total}`;
    this.#output.write(isTerminal ? `\r\u001B[K${phase}: ${of}` : `${phase}: ${of}\n`);
    this.#isDrawn = isTerminal;
  }

  /** Removes the line. */
  end(): void {
    if (this.#isDrawn) this.#output.write("\r\u001B[K");
    this.#isDrawn = false;
  }
}
