import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { clockTime, longDate } from "../../../text/dates.ts";
import { type Language, useLanguage, useText } from "../../../text/language.tsx";
import { draftsText } from "../../../text/transcript-drafts.ts";
import type { Save } from "../use-save.ts";
import type { KeptDraft } from "./kept-drafts.ts";

/**
 * Says which other drafts of the text there are: the one that another browser has saved on the
 * service meanwhile, and those that wait. `onReopen` opens the text again, with its current draft.
 */
export function OtherDrafts({
  save,
  onReopen,
}: {
  readonly save: Save;
  readonly onReopen: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const [isNotStored, setNotStored] = useState(false);
  const { draft, isUnsaved, changeDraft, keepDraft, dropOther } = save;
  const { elsewhere, others } = draft;
  const open = (to: KeptDraft) => async () => {
    const isChanged = await changeDraft(to);
    setNotStored(!isChanged);
    if (isChanged) onReopen();
  };
  return (
    <>
      {elsewhere && (
        <div className="note">
          <output>{t(draftsText.elsewhere)(timeOf(language, elsewhere))}</output>
          <span className="dialog-actions">
            {isUnsaved && <Button onPress={keepDraft}>{t(draftsText.keep)}</Button>}
            <Button onPress={() => void open(elsewhere)()}>{t(draftsText.open)}</Button>
          </span>
        </div>
      )}
      {others.map((other) => (
        <div className="note" key={`${other.changedAt} ${other.draft.length}`}>
          <output>{t(draftsText.waiting)(timeOf(language, other))}</output>
          <span className="dialog-actions">
            <Button look="quiet" onPress={() => dropOther(other)}>
              {t(draftsText.drop)}
            </Button>
            <Button onPress={() => void open(other)()}>{t(draftsText.open)}</Button>
          </span>
        </div>
      ))}
      {isNotStored && (
        <div className="note problem" role="alert">
          {t(draftsText.notStored)}
        </div>
      )}
    </>
  );
}

function timeOf(language: Language, { changedAt }: KeptDraft): string {
  const date = new Date(changedAt);
  return `${longDate(language, date)} ${clockTime(date)}`;
}
