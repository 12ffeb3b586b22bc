import type { ReactNode } from "react";
import { charCount, metadataLimits } from "../api/metadata-limits.ts";
import { Button } from "../parts/button.tsx";
import { SaidText } from "../parts/said-text.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { importText } from "../text/import.ts";
import { importViolationText } from "../text/import-violations.ts";
import { newJobText } from "../text/jobs.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { bytesText } from "../text/numbers.ts";
import { problemOf } from "../text/problems.ts";
import { importedFormat } from "../upload/imported-format.ts";
import type { ChosenText } from "./chosen-text.ts";

/** A file to import, with its title, and why it was not imported. */
export function ImportRow({
  chosen,
  isPending,
  onName,
  onRemove,
}: {
  readonly chosen: ChosenText;
  /** Whether the chosen files are being imported. */
  readonly isPending: boolean;
  readonly onName: (subject: string) => void;
  readonly onRemove: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { file, subject } = chosen;
  const format = importedFormat(file);
  const facts = [file.name, bytesText(language, file.size)];
  if (format !== undefined) facts.push(t(importText.kinds[format]));
  return (
    <li>
      <TextInput
        label={t(importText.subject)}
        hint={facts.join(" · ")}
        problem={useProblem(chosen)}
        placeholder={format === "JSON" ? t(importText.ownSubject) : undefined}
        value={subject}
        onChange={onName}
      />
      <Button
        look="quiet"
        aria-label={t(importText.removeFile)(file.name)}
        isDisabled={isPending}
        onPress={onRemove}
      >
        {t(importText.remove)}
      </Button>
    </li>
  );
}

function useProblem({ file, subject, problem }: ChosenText): ReactNode {
  const t = useText();
  const chars = charCount(subject);
  const max = metadataLimits.subjectChars;
  if (chars > max) return t(newJobText.tooLong)(chars, max);
  switch (problem?.kind) {
    case "TOO_LARGE":
      return t(importText.tooLarge);
    case "UNREADABLE":
      return t(importText.unreadable);
    case "VIOLATION":
      return <SaidText said={importViolationText(problem.violation)} />;
    case "FAILED": {
      const { sentence, next, detail } = problemOf(problem.error);
      const { is, en } = { is: `${sentence.is} ${next.is}`, en: `${sentence.en} ${next.en}` };
      return <SaidText said={{ is, en, ...(detail !== undefined && { detail }) }} />;
    }
    case "FORMAT":
    case undefined:
      break;
  }
  return importedFormat(file) === undefined ? t(importText.notText) : undefined;
}
