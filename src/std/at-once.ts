/** Does work at once that can also be done in slices, since it yields often. */
export function atOnce<Result>(work: Generator<void, Result, void>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
