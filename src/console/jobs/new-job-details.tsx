import { useId, useState } from "react";
import type { FieldViolation } from "../api/api-error.ts";
import { charCount, metadataLimits } from "../api/metadata-limits.ts";
import { Chip } from "../parts/chip.tsx";
import { SaidText } from "../parts/said-text.tsx";
import { TextInput } from "../parts/text-input.tsx";
import type { Explained } from "../text/explained-messages.ts";
import { jobViolationText } from "../text/job-violations.ts";
import { newJobText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { type JobDraft, keywordsIn } from "./job-draft.ts";

/** The optional metadata, folded until the user opens it or a field in it has a problem. */
export function NewJobDetails({
  draft,
  onChange,
  violations,
}: {
  readonly draft: JobDraft;
  readonly onChange: (fields: Partial<JobDraft>) => void;
  readonly violations: readonly FieldViolation[];
}) {
  const t = useText();
  const { description, keywords, isDictated, way } = draft;
  const [isUnfolded, setIsUnfolded] = useState(description !== "" || keywords !== "" || isDictated);
  const ofDescription = violations.find(({ field }) => field === "metadata.description");
  const ofKeywords = violations.find(({ field }) => field.startsWith("metadata.keywords"));
  const hint = useId();
  const chars = charCount(description);
  const max = metadataLimits.descriptionChars;
  const words = keywordsIn(keywords);
  return (
    <details
      open={isUnfolded || ofDescription !== undefined || ofKeywords !== undefined}
      onToggle={({ currentTarget }) => setIsUnfolded(currentTarget.open)}
    >
      <summary>{t(newJobText.more)}</summary>
      <div className="new-job-details">
        <TextInput
          label={t(newJobText.description)}
          hint={t(newJobText.charsMax)(max)}
          problem={
            chars > max
              ? t(newJobText.tooLong)(chars, max)
              : ofDescription && <SaidText said={jobViolationText(ofDescription)} />
          }
          lines={3}
          value={description}
          onChange={(text) => onChange({ description: text })}
        />
        <div>
          <TextInput
            label={t(newJobText.keywords)}
            hint={t(newJobText.keywordsHint)(metadataLimits.keywords, metadataLimits.keywordChars)}
            problem={ofKeywords && <SaidText said={keywordProblem(ofKeywords, words)} />}
            value={keywords}
            onChange={(text) => onChange({ keywords: text })}
          />
          {words.length > 0 && (
            <div className="new-job-words">
              {words.map((word) => (
                <Chip key={word} text={word} />
              ))}
            </div>
          )}
        </div>
        {way === "FILES" && (
          <div className="new-job-dictation">
            <label>
              <input
                type="checkbox"
                checked={isDictated}
                aria-describedby={hint}
                onChange={({ target }) => onChange({ isDictated: target.checked })}
              />
              <span>{t(newJobText.dictation)}</span>
            </label>
            <p className="hint" id={hint}>
              {t(newJobText.dictationHint)}
            </p>
          </div>
        )}
      </div>
    </details>
  );
}

/**
 * Returns the problem with a keyword. The service names the keyword's index; the page shows the
 * keyword itself.
 */
function keywordProblem(violation: FieldViolation, words: readonly string[]): Explained {
  const said = jobViolationText(violation);
  const { is, en } = said;
  const place = /\[(\d+)\]/.exec(violation.field)?.[1];
  const word = place === undefined ? undefined : words[Number(place)];
  if (word === undefined) return said;
  const shown = Array.from(word).slice(0, 30).join("");
  return { ...said, is: `„${shown}“: ${is}`, en: `“${shown}”: ${en}` };
}
