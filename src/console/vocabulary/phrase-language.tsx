import { useInstalledLanguages } from "../api/installed-languages.ts";
import { Choice } from "../parts/choice.tsx";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { vocabularyText } from "../text/vocabulary.ts";

/** Returns the installed language that the user reads, or else the first one. */
export function useFirstLanguage(): string {
  const { language } = useLanguage();
  const installed = useInstalledLanguages("JOB");
  return installed.find((code) => code.startsWith(language)) ?? installed[0] ?? "is-IS";
}

/** The choice of a phrase's language among the installed ones and its own. */
export function PhraseLanguage({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (code: string) => void;
}) {
  const t = useText();
  const codes = new Set([...useInstalledLanguages("JOB"), value]);
  return (
    <Choice
      label={t(vocabularyText.language)}
      value={value}
      options={Array.from(codes, (code) => ({
        value: code,
        text: `${t(languageName(code))} (${code})`,
      }))}
      onChange={onChange}
    />
  );
}
