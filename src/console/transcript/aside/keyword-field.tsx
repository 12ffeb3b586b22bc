import { useId, useRef, useState } from "react";
import { useAnnounce } from "../../parts/announcer.tsx";
import { useText } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";
import { metadataLimits } from "./metadata-limits.ts";
import "./keyword-field.css";

/**
 * Keywords as chips: Enter adds what is typed, a chip's button or Backspace in the empty field
 * removes one.
 */
export function KeywordField({
  keywords,
  typed,
  problem,
  onWrite,
}: {
  readonly keywords: readonly string[];
  readonly typed: string;
  readonly problem: string | undefined;
  readonly onWrite: (typed: string, keywords: readonly string[]) => void;
}) {
  const t = useText();
  const announce = useAnnounce();
  const [isThere, setIsThere] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const isFull = keywords.length >= metadataLimits.keywords;
  const add = () => {
    const keyword = typed.normalize("NFC").trim();
    if (keyword === "" || problem !== undefined || isFull) return;
    const has = keywords.includes(keyword);
    setIsThere(has);
    if (has) return;
    onWrite("", [...keywords, keyword]);
    announce(t(asideText.keywordAdded)(keyword));
  };
  const remove = (keyword: string) => {
    onWrite(
      typed,
      keywords.filter((other) => other !== keyword),
    );
    announce(t(asideText.keywordRemoved)(keyword));
    field.current?.focus();
  };
  const full = isFull ? t(asideText.keywordsFull)(metadataLimits.keywords) : undefined;
  const wrong = problem ?? (isThere ? t(asideText.keywordThere) : full);
  return (
    <div className="field">
      <label htmlFor={id}>{t(asideText.keywords)}</label>
      <div className="keyword-field">
        {keywords.length > 0 && (
          <ul className="keyword-chips">
            {keywords.map((keyword) => (
              <li key={keyword} className="keyword-chip">
                {keyword}
                <button
                  type="button"
                  aria-label={t(asideText.removeKeyword)(keyword)}
                  onClick={() => remove(keyword)}
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
        )}
        <input
          ref={field}
          id={id}
          className="input"
          placeholder={t(asideText.addKeyword)}
          value={typed}
          autoComplete="off"
          aria-invalid={wrong !== undefined}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => {
            setIsThere(false);
            onWrite(target.value, keywords);
          }}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            const last = keywords.at(-1);
            if (event.key === "Enter" && typed.trim() !== "") {
              // Enter in the empty field saves, as in any other.
              event.preventDefault();
              add();
            } else if (event.key === "Backspace" && typed === "" && last !== undefined) {
              event.preventDefault();
              remove(last);
            }
          }}
        />
      </div>
      <p
        id={`${id}-hint`}
        className={wrong === undefined ? "hint" : "hint failed"}
        role={wrong === undefined ? undefined : "alert"}
      >
        {wrong ?? t(asideText.keywordHint)}
      </p>
    </div>
  );
}
