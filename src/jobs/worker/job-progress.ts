/** How far the recognition of a recording is. */
export interface Progress {
  /** Milliseconds recognized, out of totalMs, including what earlier attempts kept. */
  readonly doneMs: number;
  readonly totalMs: number;
  /** The part that this attempt has recognized, from which the speed is computed. */
  readonly hereMs: number;
}

/**
 * Adds up the finished pieces and what an engine has processed of the others. A piece that is
 * recognized again never lowers the sum, and raises it only when more of it is processed than
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

  /** The recording is at least this long; called before the first piece. */
  reaches(ms: number): void {
    this.#totalMs = Math.max(this.#totalMs, ms);
  }

  /** An engine has processed this much of a piece. */
  processed({ index, startMs, endMs }: PieceSpan, ms: number): void {
    const before = this.#processedMs.get(index) ?? 0;
    const now = Math.max(before, Math.min(ms, endMs - startMs));
    this.#processedMs.set(index, now);
    this.#doneMs += now - before;
    this.#hereMs += now - before;
  }

  /** A piece is done: in this attempt, or before. */
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
