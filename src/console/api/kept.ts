/**
 * What this browser has kept under a name; undefined where it keeps nothing, as in private windows
 * of some.
 */
export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice of the user in this browser; undefined forgets it. Signing out forgets all. */
export function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // A browser that keeps nothing asks again.
  }
}

/** How the console looks says nothing of who has used it: it stays when the rest is forgotten. */
const looks = ["hlust.language", "hlust.theme"] as const;
export const [languageKept, themeKept] = looks;

/** Does what makes the browser forget all that is kept in it, and keeps the looks. */
export async function keepingLooks<Done>(work: () => Promise<Done>): Promise<Done> {
  const before = looks.map((name) => [name, readKept(name)] as const);
  const done = await work();
  for (const [name, value] of before) keep(name, value);
  return done;
}
