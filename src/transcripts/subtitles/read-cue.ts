/** A cue read from a file. */
export interface ReadCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly spans: readonly CueSpan[];
}

/** A part of a cue's text, as readers see it. */
export interface CueSpan {
  readonly text: string;
  /** The name of the speaker; empty: the file does not name one. */
  readonly voice: string;
  /** When it is spoken, if the file has it. */
  readonly fromMs?: number;
}

/** A part of a file that cannot be read, with its line; `message` is for callers. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
  }
}

/** Lines of a file, without a byte order mark. */
export function linesOf(content: string): string[] {
  return content.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
}
