const limits = new WeakMap<Promise<unknown>, number>();

/**
 * Marks a promise of a decoder's work() or end() as the response of another machine: for at most
 * msMax, this process is not considered hung although it takes no CPU time. Work on this machine is
 * not marked, since its CPU time shows whether it makes progress.
 */
export function remoteAnswer(answer: Promise<void>, msMax: number): Promise<void> {
  limits.set(answer, msMax);
  return answer;
}

/** Returns the maximum wait for the response; undefined for work on this machine. */
export function answerMsMax(work: Promise<unknown>): number | undefined {
  return limits.get(work);
}
