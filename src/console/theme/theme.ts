import { keep, readKept, themeKept } from "../api/kept.ts";

const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** Returns the theme that the user has chosen, or `system`. */
export function chosenTheme(): Theme {
  const kept = readKept(themeKept);
  return themes.find((theme) => theme === kept) ?? "system";
}

/** Applies a theme, and stores the choice in this browser. */
export function showTheme(theme: Theme): void {
  keep(themeKept, theme === "system" ? undefined : theme);
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset["theme"];
  else dataset["theme"] = theme;
}
