import { type KeyboardEvent, useId, useRef, useState } from "react";
import { charCount, metadataLimits } from "../../api/metadata-limits.ts";
import { useAnnounce } from "../../parts/announcer.tsx";
import { useText } from "../../text/language.tsx";
import { asideDialogText } from "../../text/aside-dialogs.ts";
import "./keyword-field.css";

interface Props {
  readonly keywords: readonly string[];
  readonly typed: string;
  readonly problem: string | undefined;
  readonly onChange: (typed: string, keywords: readonly string[]) => void;
}

/**
 * Keywords as chips. Enter or a comma adds the typed keyword; a chip's button, or Backspace in the
 * empty field, removes a keyword.
 */
export function KeywordField(props: Props) {
  const { keywords, typed, problem, onChange } = props;
  const t = useText();
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const { add, addDivided, remove, isDuplicate, isFull, resetDuplicate } = useKeywordEdits(props);
  const removeAndFocus = (keyword: string) => {
    remove(keyword);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const last = keywords.at(-1);
    if (event.key === "Enter" && typed.trim() !== "") {
      // If the field is empty, Enter submits the form, as in any other field.
      event.preventDefault();
      add();
    } else if (event.key === "Backspace" && typed === "" && last !== undefined) {
      event.preventDefault();
      removeAndFocus(last);
    }
  };
  const full = isFull ? t(asideDialogText.keywordsFull)(metadataLimits.keywords) : undefined;
  const shownProblem = problem ?? (isDuplicate ? t(asideDialogText.keywordThere) : full);
  return (
    <div className="field">
      <label htmlFor={id}>{t(asideDialogText.keywords)}</label>
      <div className="keyword-field">
        {keywords.length > 0 && <KeywordChips keywords={keywords} onRemove={removeAndFocus} />}
        <input
          ref={field}
          id={id}
          className="input"
          placeholder={t(asideDialogText.addKeyword)}
          value={typed}
          autoComplete="off"
          aria-invalid={shownProblem !== undefined}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => {
            resetDuplicate();
            if (!addDivided(target.value)) onChange(target.value, keywords);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <p
        id={`${id}-hint`}
        className={shownProblem === undefined ? "hint" : "hint failed"}
        role={shownProblem === undefined ? undefined : "alert"}
      >
        {shownProblem ?? t(asideDialogText.keywordHint)}
      </p>
    </div>
  );
}

/** Adds the typed keyword, and removes keywords; each change is announced. */
function useKeywordEdits({ keywords, typed, problem, onChange }: Props) {
  const t = useText();
  const announce = useAnnounce();
  const [isDuplicate, setIsDuplicate] = useState(false);
  const isFull = keywords.length >= metadataLimits.keywords;
  const add = () => {
    const keyword = typed.normalize("NFC").trim();
    if (keyword === "" || problem !== undefined || isFull) return;
    const isThere = keywords.includes(keyword);
    setIsDuplicate(isThere);
    if (isThere) return;
    onChange("", [...keywords, keyword]);
    announce(t(asideDialogText.keywordAdded)(keyword));
  };
  /** Adds the keywords before the last comma. Returns false if there are none, or not all fit. */
  const addDivided = (text: string): boolean => {
    const parts = text.split(",").map((part) => part.normalize("NFC").trim());
    const rest = parts.pop() ?? "";
    const added = [...new Set(parts)].filter((part) => part !== "" && !keywords.includes(part));
    const all = [...keywords, ...added];
    const isTooLong = parts.some((part) => charCount(part) > metadataLimits.keywordChars);
    if (parts.length === 0 || isTooLong || all.length > metadataLimits.keywords) return false;
    onChange(rest, all);
    for (const keyword of added) announce(t(asideDialogText.keywordAdded)(keyword));
    return true;
  };
  const remove = (keyword: string) => {
    onChange(
      typed,
      keywords.filter((other) => other !== keyword),
    );
    announce(t(asideDialogText.keywordRemoved)(keyword));
  };
  return {
    add,
    addDivided,
    remove,
    isDuplicate,
    isFull,
    resetDuplicate: () => setIsDuplicate(false),
  };
}

function KeywordChips({
  keywords,
  onRemove,
}: {
  readonly keywords: readonly string[];
  readonly onRemove: (keyword: string) => void;
}) {
  const t = useText();
  return (
    <ul className="keyword-chips">
      {keywords.map((keyword) => (
        <li key={keyword} className="keyword-chip">
          {keyword}
          <button
            type="button"
            aria-label={t(asideDialogText.removeKeyword)(keyword)}
            onClick={() => onRemove(keyword)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
