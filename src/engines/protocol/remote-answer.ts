const limits = new WeakMap<Promise<unknown>, number>();

/**
 * Marks a promise of a decoder's work() or end() as the answer of another machine: for at most
 * msMax, this process is not considered hung although it takes no CPU. Work on this machine is not
 * marked: its CPU time shows whether it makes progress.
 */
export function remoteAnswer(answer: Promise<void>, msMax: number): Promise<void> {
  limits.set(answer, msMax);
  return answer;
}

/** The maximum wait for the answer; undefined for work on this machine. */
export function answerMsMax(work: Promise<unknown>): number | undefined {
  return limits.get(work);
}
