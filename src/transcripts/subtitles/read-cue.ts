/** A cue read from a file. */
export interface ReadCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly spans: readonly CueSpan[];
}

/** A part of the visible text of a cue. */
export interface CueSpan {
  readonly text: string;
  /** The name of the speaker; empty: the file does not name one. */
  readonly voice: string;
  /** When it is spoken, if the file has that time. */
  readonly fromMs?: number;
}

/**
 * The error if a file cannot be read. The message, which is for callers, begins with the number of
 * the line.
 */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
  }
}

/** The lines of a file, without a byte order mark. */
export function linesOf(content: string): string[] {
  return content.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
}
