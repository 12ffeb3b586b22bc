/**
 * Returns the value that this browser stores under a name, or undefined if there is none. Some
 * browsers store nothing in private windows.
 */
export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Stores a choice of the user in this browser; undefined removes it. Signing out removes all
 * choices except language and theme.
 */
export function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // If a browser stores nothing, the user has to choose again the next time.
  }
}

/**
 * Language and theme reveal nothing about who used the console, so they are kept after signing out.
 */
const looks = ["hlust.language", "hlust.theme"] as const;
export const [languageKept, themeKept] = looks;

/** Calls a function that clears the browser's storage, but preserves language and theme. */
export async function keepingLanguageAndTheme<Done>(work: () => Promise<Done>): Promise<Done> {
  const before = looks.map((name) => [name, readKept(name)] as const);
  const done = await work();
  for (const [name, value] of before) keep(name, value);
  return done;
}
