/** The pages that G and a letter open: every page of the menu. */
export const pageLetters = {
  o: "/",
  t: "/transcripts",
  j: "/jobs",
  i: "/import",
  b: "/bin",
  l: "/live",
  v: "/vocabulary",
  k: "/keys",
  w: "/webhooks",
  u: "/usage",
  p: "/programs",
  a: "/account",
  s: "/account/settings",
  r: "/operator",
  h: "/help",
  d: "/docs",
} as const;
export type PageLetter = keyof typeof pageLetters;

export function isPageLetter(letter: string): letter is PageLetter {
  return Object.hasOwn(pageLetters, letter);
}

/**
 * The Latin letter of a key, in lower case; "" if it has none. Keyboards with other letters have
 * the Latin ones at the places of an English keyboard.
 */
export function letterOf({ key, code }: Pick<KeyboardEvent, "key" | "code">): string {
  const letter = key.toLowerCase();
  if (/^[a-zþæðö]$/.test(letter)) return letter;
  return /^\p{L}$/u.test(letter) ? (/^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? "") : "";
}

/** What a key does on every page: a command, or the path of the page that it opens. */
export type PageCommand = "palette" | "shortcuts" | "search" | "new" | `/${string}`;
