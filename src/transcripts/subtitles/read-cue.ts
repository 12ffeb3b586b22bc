/** A cue as it is read from a file. */
export interface ReadCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly spans: readonly CueSpan[];
}

/** A part of a cue's text, as readers see it. */
export interface CueSpan {
  readonly text: string;
  /** Name of the speaker; empty: the file does not tell. */
  readonly voice: string;
  /** When it is said, where the file tells. */
  readonly fromMs?: number;
}

/** What cannot be read, and where; `message` is for callers. */
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
