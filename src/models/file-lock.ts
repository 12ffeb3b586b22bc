import { open } from "node:fs/promises";
import koffi from "koffi";

const lockExclusive = 2;
const withoutWaiting = 4;
let flock: ((descriptor: number, operation: number) => number) | undefined;

/**
 * Locks a file. Returns undefined if the file is already locked, even by this process. The kernel
 * releases the lock when the process ends, however it ends, so there are no stale locks. The file
 * itself stays, and has no meaning.
 */
export async function tryLock(file: string): Promise<AsyncDisposable | undefined> {
  const handle = await open(file, "a", 0o644);
  flock ??= koffi.load(null).func("int flock(int descriptor, int operation)");
  if (flock(handle.fd, lockExclusive | withoutWaiting) === 0) return handle;
  const errno = koffi.errno();
  await handle.close();
  if (errno === koffi.os.errno["EWOULDBLOCK"]) return undefined;
  throw new Error(`flock of ${file} failed: errno ${errno}`);
}
