/** A cue read from a file. */
export interface ReadCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly spans: readonly CueSpan[];
}

/** A part of the visible text of a cue. */
export interface CueSpan {
  readonly text: string;
  /** The name of the speaker; empty if the file does not name one. */
  readonly voice: string;
  /** The time at which the part is spoken, if the file has that time. */
  readonly fromMs?: number;
}

/**
 * The error that is thrown if a file cannot be read. The message, which is for callers, begins with
 * the line number.
 */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
  }
}

/** Returns the lines of a file, without a byte order mark. */
export function linesOf(content: string): string[] {
  return content.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
}
