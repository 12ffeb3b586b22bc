import { Button } from "../parts/button.tsx";
import { Chip } from "../parts/chip.tsx";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { numberText } from "../text/numbers.ts";
import { vocabularyText } from "../text/vocabulary.ts";
import type { Phrase, State } from "./phrases-query.ts";
import "../parts/rows.css";
import "./vocabulary.css";

interface RowActions {
  readonly mayWrite: boolean;
  readonly isPending: boolean;
  readonly onMove: (phrase: Phrase, to: State) => void;
  readonly onEdit: (phrase: Phrase) => void;
  readonly onRemove: (phrase: Phrase) => void;
}

/** The phrases of a state, with what can be done with them. */
export function PhraseRows({
  label,
  phrases,
  ...actions
}: RowActions & { readonly label: string; readonly phrases: readonly Phrase[] }) {
  return (
    <ul className="rows" aria-label={label}>
      {phrases.map((phrase) => (
        <PhraseRow key={phrase.name} shown={phrase} {...actions} />
      ))}
    </ul>
  );
}

function PhraseRow({
  shown,
  mayWrite,
  isPending,
  onMove,
  onEdit,
  onRemove,
}: RowActions & { readonly shown: Phrase }) {
  const t = useText();
  const { language } = useLanguage();
  const { phrase, languageCode, weight, soundsLike, state, correctionCount } = shown;
  const action = (text: string, run: () => void) => (
    <Button
      look="quiet"
      aria-label={t(vocabularyText.actionOf)(text, phrase)}
      isPending={isPending}
      onPress={run}
    >
      {text}
    </Button>
  );
  return (
    <li className="row phrase-row">
      <h2 className="title" dir="auto" lang={languageCode}>
        {phrase}
      </h2>
      <div className="meta">
        <Chip text={t(languageName(languageCode))} />
        {state === "ACTIVE" && (
          <span>{t(vocabularyText.weight)(numberText(language, weight, weight % 1 ? 1 : 0))}</span>
        )}
        {soundsLike.length > 0 && (
          <span>{t(vocabularyText.soundsLike)(soundsLike.join(", "))}</span>
        )}
        {correctionCount > 0 && <span>{t(vocabularyText.corrections)(correctionCount)}</span>}
      </div>
      {mayWrite && (
        <div className="side">
          {state !== "ACTIVE" && action(t(vocabularyText.accept), () => onMove(shown, "ACTIVE"))}
          {state === "CANDIDATE" &&
            action(t(vocabularyText.reject), () => onMove(shown, "REJECTED"))}
          {state !== "REJECTED" && action(t(vocabularyText.edit), () => onEdit(shown))}
          {state !== "CANDIDATE" && action(t(vocabularyText.remove), () => onRemove(shown))}
        </div>
      )}
    </li>
  );
}
