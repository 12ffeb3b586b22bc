/**
 * Returns whether a task ends within a time; the task continues after that time. Throws the task's
 * error if it fails in time.
 */
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
