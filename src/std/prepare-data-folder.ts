import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

/**
 * Creates the folder of the service's data if it is missing, and checks that the service can write
 * there. Throws an Error for the operator, a line with what is wrong and what to do.
 */
export async function prepareDataFolder(folder: string): Promise<void> {
  const probe = join(folder, `.writable-${process.pid}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(probe, "");
    await rm(probe);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // A service whose disk is full still answers calls that read.
    if (code === "ENOSPC" || code === "EDQUOT") return;
    throw new Error(`HLUST_DATA=${folder} cannot be used: ${await reason(folder, code)}`, {
      cause: error,
    });
  }
}

async function reason(folder: string, code: unknown): Promise<string> {
  if (code === "EROFS") {
    return "it is on a read-only file system; mount it for writing, or choose another folder";
  }
  if (code === "ENOTDIR" || code === "EEXIST") return "it is not a folder; choose another one";
  const user = process.geteuid?.() ?? 0;
  const owner = await stat(folder).then(
    ({ uid }) => uid,
    () => undefined,
  );
  if (owner === undefined) {
    return `user ${user} may not create it; create it and give it to that user, or choose another folder`;
  }
  if (owner === user)
    return `user ${user} may not write there (${String(code)}): chmod u+rwx ${folder}`;
  return (
    `it belongs to user ${owner}, and the service runs as user ${user}; ` +
    `run it as user ${owner}, or give the folder to this one: chown -R ${user} ${folder}`
  );
}
