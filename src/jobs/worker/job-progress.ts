/** How far the recognition of a recording is. */
export interface Progress {
  /** Recognized, of so many in all; with what earlier tries of the job kept. */
  readonly doneMs: number;
  readonly totalMs: number;
  /** Of it, recognized by this try: what its speed is measured by. */
  readonly hereMs: number;
}

/**
 * Adds up what is recognized: pieces that are done, and of the others what an engine has heard. A
 * piece that is tried again is not taken back, and counts for more only when more of it is heard
 * than before.
 */
export class ProgressCounter {
  readonly #onProgress: (progress: Progress) => void;
  readonly #heardMs = new Map<number, number>();
  #totalMs = 0;
  #doneMs = 0;
  #hereMs = 0;

  constructor(onProgress: (progress: Progress) => void) {
    this.#onProgress = onProgress;
  }

  /** The recording is at least so long; told before the first piece. */
  reaches(ms: number): void {
    this.#totalMs = Math.max(this.#totalMs, ms);
  }

  /** So much of a piece is heard. */
  heard(piece: PieceSpan, ms: number): void {
    this.#take(piece, ms);
    this.#tell();
  }

  /** A piece is done: by this try, or before. */
  done(piece: PieceSpan, { isKnown }: { readonly isKnown: boolean }): void {
    if (isKnown) this.#doneMs += piece.endMs - piece.startMs;
    else this.#take(piece, piece.endMs - piece.startMs);
    this.#heardMs.delete(piece.index);
    this.#tell();
  }

  #take({ index, startMs, endMs }: PieceSpan, ms: number): void {
    const before = this.#heardMs.get(index) ?? 0;
    const now = Math.max(before, Math.min(ms, endMs - startMs));
    this.#heardMs.set(index, now);
    this.#doneMs += now - before;
    this.#hereMs += now - before;
  }

  #tell(): void {
    this.#onProgress({ doneMs: this.#doneMs, totalMs: this.#totalMs, hereMs: this.#hereMs });
  }
}

interface PieceSpan {
  readonly index: number;
  readonly startMs: number;
  readonly endMs: number;
}
