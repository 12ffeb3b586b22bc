import type { ReactNode } from "react";
import { charCount, metadataLimits } from "../api/metadata-limits.ts";
import { TextInput } from "../parts/text-input.tsx";
import { newJobText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { subjectOfUrl } from "../upload/subject-of.ts";
import type { JobDraft } from "./job-draft.ts";

/**
 * The fields for the URL of a recording and for its title, which is the file name unless the user
 * types another title.
 */
export function NewJobUrl({
  draft,
  onChange,
  problemIn,
}: {
  readonly draft: JobDraft;
  readonly onChange: (fields: Partial<JobDraft>) => void;
  /** Returns the service's violation in a field, in the user's language. */
  readonly problemIn: (field: string) => ReactNode;
}) {
  const t = useText();
  const chars = charCount(draft.subject);
  const max = metadataLimits.subjectChars;
  return (
    <div className="new-job-url">
      <TextInput
        label={t(newJobText.url)}
        hint={t(newJobText.urlHint)}
        problem={problemIn("uri")}
        placeholder="https://"
        type="url"
        autoComplete="off"
        value={draft.url}
        onChange={(url) => onChange({ url })}
      />
      <TextInput
        label={t(newJobText.subject)}
        hint={t(newJobText.charsMax)(max)}
        problem={chars > max ? t(newJobText.tooLong)(chars, max) : problemIn("metadata.subject")}
        placeholder={subjectOfUrl(draft.url)}
        value={draft.subject}
        onChange={(subject) => onChange({ subject })}
      />
    </div>
  );
}
