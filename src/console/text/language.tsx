import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
} from "react";
import { keep, languageKept, readKept } from "../api/kept.ts";

/** The languages of the console. */
export const languages = ["is", "en"] as const;
export type Language = (typeof languages)[number];

/** One text of the dictionary in every language: a string, or a function of what it tells of. */
export type Phrase<Text = unknown> = Readonly<Record<Language, Text>>;

interface Speaking {
  readonly language: Language;
  readonly speak: (language: Language) => void;
}

const Context = createContext<Speaking | undefined>(undefined);

/**
 * Gives every part below it the language that the user has chosen, else the first of the browser's
 * that there is.
 */
export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() => chosenLanguage(navigator.languages));
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const speak = useCallback((chosen: Language) => {
    keep(languageKept, chosen);
    setLanguage(chosen);
  }, []);
  const speaking = useMemo(() => ({ language, speak }), [language, speak]);
  return <Context value={speaking}>{children}</Context>;
}

function chosenLanguage(wanted: readonly string[]): Language {
  const kept = readKept(languageKept);
  const all = [kept ?? "", ...wanted].map((tag) => tag.slice(0, 2).toLowerCase());
  return languages.find((language) => all.find((tag) => isLanguage(tag)) === language) ?? "en";
}

function isLanguage(tag: string): tag is Language {
  return languages.some((language) => language === tag);
}

export function useLanguage(): Speaking {
  const speaking = useContext(Context);
  if (!speaking) throw new Error("there is no LanguageProvider above");
  return speaking;
}

/** Says phrases of the dictionary in the user's language. */
export function useText(): <Text>(phrase: Phrase<Text>) => Text {
  const { language } = useLanguage();
  return useCallback((phrase) => phrase[language], [language]);
}
