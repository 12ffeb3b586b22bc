const limits = new WeakMap<Promise<unknown>, number>();

/**
 * Marks a promise of a decoder's work() or end() as the answer of another machine: while it is
 * waited for, this process takes no CPU and is not taken for hung, for at most msMax. Work of this
 * machine is not marked: what it takes of the CPU tells whether it goes on.
 */
export function remoteAnswer(answer: Promise<void>, msMax: number): Promise<void> {
  limits.set(answer, msMax);
  return answer;
}

/** How long the answer may be waited for; undefined for work of this machine. */
export function answerMsMax(work: Promise<unknown>): number | undefined {
  return limits.get(work);
}
