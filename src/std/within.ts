/** Whether a task ends in time, which goes on in any case. What it throws in time is thrown. */
export async function within(msMax: number, task: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => {
    late.resolve(false);
  }, msMax);
  try {
    return await Promise.race([task.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
