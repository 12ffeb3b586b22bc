/** The progress of the recognition of a recording. */
export interface Progress {
  /** The milliseconds recognized, out of totalMs, including pieces that earlier attempts kept. */
  readonly doneMs: number;
  readonly totalMs: number;
  /** The milliseconds that this attempt has recognized, from which the speed is computed. */
  readonly hereMs: number;
}

/**
 * Adds up the finished pieces and the processed parts of the others. A piece that is recognized
 * again never lowers the sum, and raises it only when more of the piece has been processed than
 * before.
 */
export class JobProgress implements Progress {
  readonly #processedMs = new Map<number, number>();
  #totalMs = 0;
  #doneMs = 0;
  #hereMs = 0;

  get doneMs(): number {
    return this.#doneMs;
  }

  get totalMs(): number {
    return this.#totalMs;
  }

  get hereMs(): number {
    return this.#hereMs;
  }

  /** Notes that the recording is at least this long. Called before the first piece. */
  reaches(ms: number): void {
    this.#totalMs = Math.max(this.#totalMs, ms);
  }

  /** Notes that an engine has processed this much of a piece. */
  processed({ index, startMs, endMs }: PieceSpan, ms: number): void {
    const before = this.#processedMs.get(index) ?? 0;
    const now = Math.max(before, Math.min(ms, endMs - startMs));
    this.#processedMs.set(index, now);
    this.#doneMs += now - before;
    this.#hereMs += now - before;
  }

  /** Notes that a piece is done, in this attempt or an earlier one. */
  done(piece: PieceSpan, { isKnown }: { readonly isKnown: boolean }): void {
    if (isKnown) this.#doneMs += piece.endMs - piece.startMs;
    else this.processed(piece, piece.endMs - piece.startMs);
    this.#processedMs.delete(piece.index);
  }
}

interface PieceSpan {
  readonly index: number;
  readonly startMs: number;
  readonly endMs: number;
}
