import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ServiceError } from "../std/service-error.ts";
import { syncFolder, syncTree } from "./durable-files.ts";
import { tryLock } from "./file-lock.ts";
import { isModelName, placeOf, type ModelFolders } from "./models-folder.ts";

/**
 * A folder in which a version of a model is assembled. Disposing of it removes the folder unless
 * the version was installed.
 */
export interface StagedModel extends AsyncDisposable {
  /** The path of the folder, which is initially empty and is not listed among the models. */
  readonly folder: string;
  /**
   * Makes this version the current one for its model name, atomically: readers see either the old
   * version or this one.
   */
  install(): Promise<void>;
}

/**
 * Stages a version of a model. Versions are installed in `.installed/<name>-<random>`, and `<name>`
 * is a link to one of them that is replaced by a rename. The next command that locks the name
 * removes versions without a link. Throws ServiceError if a folder created by hand already has the
 * name.
 */
export async function stageModel(modelsFolder: string, name: string): Promise<StagedModel> {
  await using opened = new AsyncDisposableStack();
  opened.use(await lockModel(modelsFolder, name));
  await checkReplaceable(modelsFolder, name);
  await removeGarbage(modelsFolder, name);
  const id = `${name}-${randomBytes(6).toString("hex")}`;
  const folder = join(modelsFolder, ".installed", id);
  await mkdir(folder);
  opened.defer(() => removeGarbage(modelsFolder, name));
  const parts = opened.move();
  return {
    folder,
    async install() {
      await syncTree(folder);
      await syncFolder(join(modelsFolder, ".installed"));
      const link = `${folder}.link`;
      await symlink(`.installed/${id}`, link);
      await checkReplaceable(modelsFolder, name);
      await rename(link, join(modelsFolder, name));
      await syncFolder(modelsFolder);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/**
 * Removes an installed model. Throws ServiceError if there is no model of that name, or only one
 * that comes with the service.
 */
export async function removeModel(folders: ModelFolders, name: string): Promise<void> {
  const { builtin, installed } = folders;
  const place = isModelName(name) ? await placeOf(installed, name) : { kind: "free" };
  if (place.kind === "free") {
    if (isModelName(name) && (await placeOf(builtin, name)).kind !== "free") {
      throw new ServiceError(
        "failed_precondition",
        `${name} comes with Hlust and cannot be removed: to replace it, install a model of the same name in ${installed}`,
      );
    }
    throw new ServiceError("not_found", `no model ${JSON.stringify(name)} is installed`);
  }
  await using _lock = await lockModel(installed, name);
  // The model is hidden immediately, even if its removal is interrupted.
  const hidden = join(installed, ".installed", `${name}-${randomBytes(6).toString("hex")}`);
  await rename(join(installed, name), hidden);
  await syncFolder(installed);
  await rm(join(installed, ".downloads", name), { recursive: true, force: true });
  await removeGarbage(installed, name);
}

/**
 * Prevents other commands, in any process, from installing or removing this model while the lock is
 * held.
 */
async function lockModel(modelsFolder: string, name: string): Promise<AsyncDisposable> {
  for (const each of [".installed", ".locks"]) {
    await mkdir(join(modelsFolder, each), { recursive: true });
  }
  const lock = await tryLock(lockFile(modelsFolder, name));
  if (lock) return lock;
  throw new ServiceError(
    "aborted",
    `another command is changing the model ${name}: try again when it has ended`,
  );
}

async function checkReplaceable(modelsFolder: string, name: string): Promise<void> {
  const { kind } = await placeOf(modelsFolder, name);
  if (kind === "free" || kind === "link") return;
  throw new ServiceError(
    "failed_precondition",
    `${join(modelsFolder, name)} was installed by hand and is not replaced: move it away, or \`hlust models remove ${name}\``,
  );
}

/**
 * Removes versions without a link: versions of this name, whose lock we hold, and versions of other
 * names that no command is changing.
 */
async function removeGarbage(modelsFolder: string, ownName: string): Promise<void> {
  for (const entry of await readdir(join(modelsFolder, ".installed"))) {
    const [, name] = /^(.+)-[0-9a-f]{12}(?:\.link)?$/.exec(entry) ?? [];
    if (name === undefined) continue;
    await using lock = name === ownName ? undefined : await tryLock(lockFile(modelsFolder, name));
    if (name !== ownName && !lock) continue;
    const place = await placeOf(modelsFolder, name);
    if (place.kind === "link" && place.target === entry) continue;
    await rm(join(modelsFolder, ".installed", entry), { recursive: true, force: true });
  }
}

function lockFile(modelsFolder: string, name: string): string {
  return join(modelsFolder, ".locks", name);
}
