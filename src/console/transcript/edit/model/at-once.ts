/** Does work at once that can be done in slices. */
export function atOnce<Result>(work: Generator<void, Result, void>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
