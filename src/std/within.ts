/** Whether a task ends in time; it runs on in any case. Its error is thrown if it comes in time. */
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
