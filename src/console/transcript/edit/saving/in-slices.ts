/** The time that a slice of work may take, in ms; a task may take 16 ms. */
const sliceMs = 5;

/** Does work in slices, each of them in a task of its own. */
export async function inSlices<Result>(work: Generator<void, Result, void>): Promise<Result> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve));
    const until = performance.now() + sliceMs;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < until);
  }
}
