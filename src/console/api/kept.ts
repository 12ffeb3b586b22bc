/**
 * What this browser stores under a name; undefined if it stores nothing, as some do in private
 * windows.
 */
export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a choice of the user in this browser; undefined removes it. Signing out removes all. */
export function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // In a browser that stores nothing the user chooses again.
  }
}

/** Language and theme say nothing about who used the console: they survive signing out. */
const looks = ["hlust.language", "hlust.theme"] as const;
export const [languageKept, themeKept] = looks;

/** Does something that clears the browser's storage, and keeps language and theme. */
export async function keepingLooks<Done>(work: () => Promise<Done>): Promise<Done> {
  const before = looks.map((name) => [name, readKept(name)] as const);
  const done = await work();
  for (const [name, value] of before) keep(name, value);
  return done;
}
