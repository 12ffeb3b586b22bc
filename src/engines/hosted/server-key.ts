import { readFile } from "node:fs/promises";

/** The key from the environment of the service, and the name of its variable, if there is one. */
export interface GivenKey {
  readonly keyVariable?: string | undefined;
  readonly key?: string | undefined;
}

/** A key, as it may stand in a header. */
const keyPattern = /^[\x21-\x7e]{1,8192}$/;

/**
 * Returns the key for a server from its file or its variable of the environment, or undefined if
 * there is neither. Errors name the place of the key, never the key.
 */
export async function readServerKey(
  keyFile: string | undefined,
  { keyVariable, key }: GivenKey,
): Promise<string | undefined> {
  if (keyFile !== undefined) {
    const text = await readFile(keyFile, "utf8").catch((error: unknown) => {
      throw new Error(`the key file ${keyFile} cannot be read`, { cause: error });
    });
    return checkedKey(text, `the key file ${keyFile}`);
  }
  if (keyVariable === undefined) return undefined;
  if (key === undefined) throw new Error(`the variable ${keyVariable} is not set`);
  return checkedKey(key, `the variable ${keyVariable}`);
}

function checkedKey(text: string, place: string): string {
  const key = text.trim();
  if (keyPattern.test(key)) return key;
  throw new Error(`${place} must have one key, without spaces and line breaks within it`);
}
