import { violationIn } from "../api/violations.ts";
import { SaidText } from "../parts/said-text.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { violationOf } from "../parts/violation-of.tsx";
import { useText } from "../text/language.tsx";
import { phraseViolationText } from "../text/phrase-violations.ts";
import { vocabularyText } from "../text/vocabulary.ts";
import { PhraseLanguage } from "./phrase-language.tsx";
import type { Phrase } from "./phrases-query.ts";

/** A phrase as its form has it. */
export interface PhraseDraft {
  readonly phrase: string;
  readonly languageCode: string;
  readonly weight: string;
  /** Texts with commas between them. */
  readonly soundsLike: string;
}

export function draftOf(edited: Phrase | undefined, languageCode: string): PhraseDraft {
  if (!edited) return { phrase: "", languageCode, weight: "10", soundsLike: "" };
  return { ...edited, weight: `${edited.weight}`, soundsLike: edited.soundsLike.join(", ") };
}

/** Returns the request that a draft stands for. */
export function requestOf({ phrase, languageCode, weight, soundsLike }: PhraseDraft) {
  const texts = soundsLike.split(",").map((each) => each.trim());
  return {
    phrase: phrase.trim(),
    languageCode,
    weight: Number(weight.replace(",", ".")),
    soundsLike: texts.filter((each) => each !== ""),
  };
}

/** The fields whose violations the form shows. */
export const shownFields = ["phrase", "weight", "soundsLike"];

/** The fields of a phrase. */
export function PhraseFields({
  draft,
  onChange,
  error,
  isMissing,
}: {
  readonly draft: PhraseDraft;
  readonly onChange: (draft: PhraseDraft) => void;
  readonly error: unknown;
  /** Whether the text is missing. */
  readonly isMissing: boolean;
}) {
  const t = useText();
  const problemIn = (field: string) => violationOf(error, field);
  // Weights have decimals, unlike the numbers of other forms.
  const ofWeight = violationIn(error, "weight");
  const set = (changed: Partial<PhraseDraft>) => onChange({ ...draft, ...changed });
  return (
    <>
      <TextInput
        label={t(vocabularyText.phrase)}
        autoComplete="off"
        value={draft.phrase}
        onChange={(phrase) => set({ phrase })}
        problem={isMissing ? t(vocabularyText.phraseMissing) : problemIn("phrase")}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to fill it in
        autoFocus
      />
      <PhraseLanguage
        value={draft.languageCode}
        onChange={(languageCode) => set({ languageCode })}
      />
      <TextInput
        label={t(vocabularyText.weightLabel)}
        hint={t(vocabularyText.weightHint)}
        inputMode="decimal"
        value={draft.weight}
        onChange={(weight) => set({ weight })}
        problem={ofWeight && <SaidText said={phraseViolationText(ofWeight)} />}
      />
      <TextInput
        label={t(vocabularyText.soundsLikeLabel)}
        hint={t(vocabularyText.soundsLikeHint)}
        value={draft.soundsLike}
        onChange={(soundsLike) => set({ soundsLike })}
        problem={problemIn("soundsLike")}
      />
    </>
  );
}
