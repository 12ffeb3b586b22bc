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
import { isolating } from "./isolated.ts";

/** The languages of the console. */
export const languages = ["is", "en"] as const;
export type Language = (typeof languages)[number];

/** A text in the dictionary in every language: a string, or a function that returns one. */
export type Phrase<Text = unknown> = Readonly<Record<Language, Text>>;

interface LanguageChoice {
  readonly language: Language;
  readonly setLanguage: (language: Language) => void;
}

const Context = createContext<LanguageChoice | undefined>(undefined);

/**
 * Provides the language that the user has chosen, or else the first of the browser's languages that
 * the console supports.
 */
export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [language, setChosen] = useState<Language>(() => chosenLanguage(navigator.languages));
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const setLanguage = useCallback((chosen: Language) => {
    keep(languageKept, chosen);
    setChosen(chosen);
  }, []);
  const choice = useMemo(() => ({ language, setLanguage }), [language, setLanguage]);
  return <Context value={choice}>{children}</Context>;
}

function chosenLanguage(wanted: readonly string[]): Language {
  const kept = readKept(languageKept);
  const all = [kept ?? "", ...wanted].map((tag) => tag.slice(0, 2).toLowerCase());
  return all.find((tag) => isLanguage(tag)) ?? "en";
}

function isLanguage(tag: string): tag is Language {
  return languages.some((language) => language === tag);
}

export function useLanguage(): LanguageChoice {
  const choice = useContext(Context);
  if (!choice) throw new Error("there is no LanguageProvider above");
  return choice;
}

/**
 * Returns a function that returns a phrase of the dictionary in the user's language. What a phrase
 * gets from users is isolated: a title cannot turn the sentence around it.
 */
export function useText(): <Text>(phrase: Phrase<Text>) => Text {
  const { language } = useLanguage();
  return useCallback((phrase) => isolating(phrase[language]), [language]);
}
