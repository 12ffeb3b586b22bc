import type { Language } from "./language.tsx";

/** Joins items to a list: "texta", "texta og nöfnum", "texta, nöfnum og titli". */
export function listed(language: Language, items: readonly string[]): string {
  const and = language === "is" ? " og " : " and ";
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")}${and}${items.at(-1) ?? ""}`;
}

/** Returns the text with its first letter in upper case. */
export function capital(text: string): string {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("");
}
