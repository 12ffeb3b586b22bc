import { TextInput } from "../parts/text-input.tsx";
import { newJobText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { subjectOfUrl } from "../upload/media-kind.ts";
import type { JobDraft } from "./job-draft.ts";
import { charCount, jobLimits } from "./job-limits.ts";

/**
 * Where a recording is on the web, and what it is to be called: as its file, where nothing is
 * typed.
 */
export function NewJobUrl({
  draft,
  onChange,
  said,
}: {
  readonly draft: JobDraft;
  readonly onChange: (fields: Partial<JobDraft>) => void;
  /** What the service has against a field. */
  readonly said: (field: string) => string | undefined;
}) {
  const t = useText();
  const chars = charCount(draft.subject);
  const max = jobLimits.subjectChars;
  return (
    <div className="new-job-url">
      <TextInput
        label={t(newJobText.url)}
        hint={t(newJobText.urlHint)}
        problem={said("uri")}
        placeholder="https://"
        type="url"
        autoComplete="off"
        value={draft.url}
        onChange={(url) => onChange({ url })}
      />
      <TextInput
        label={t(newJobText.subject)}
        hint={t(newJobText.charsMax)(max)}
        problem={chars > max ? t(newJobText.tooLong)(chars, max) : said("metadata.subject")}
        placeholder={subjectOfUrl(draft.url)}
        value={draft.subject}
        onChange={(subject) => onChange({ subject })}
      />
    </div>
  );
}
