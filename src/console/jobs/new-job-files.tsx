import { type ReactNode, useRef } from "react";
import { charCount, metadataLimits } from "../api/metadata-limits.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { SaidText } from "../parts/said-text.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { jobViolationText } from "../text/job-violations.ts";
import { newJobText } from "../text/jobs.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { bytesText } from "../text/numbers.ts";
import { kindOfFile } from "../upload/media-kind.ts";
import { useUploads } from "../upload/uploads.tsx";
import { ChooseFiles } from "./choose-files.tsx";
import { recognitionOfFile, withoutFile } from "./file-recognition.ts";
import type { DraftFile, ReadyDraft } from "./job-draft.ts";
import { fileProblem, type FileProblem } from "./send-draft.ts";

/** The files of a draft, each with its title, and an area for dropping or choosing more files. */
export function NewJobFiles({
  problems,
  isUnchosen,
  languages,
  ready,
}: {
  readonly problems: ReadonlyMap<string, FileProblem> | undefined;
  /** Whether the form was submitted without a file. */
  readonly isUnchosen: boolean;
  /** The languages to choose from for each file, if there are several. */
  readonly languages: readonly string[];
  /** The draft, with the options of files for which none are chosen. */
  readonly ready: ReadyDraft;
}) {
  const t = useText();
  const { draft, change } = useUploads();
  const { files } = draft;
  const drop = useRef<HTMLDivElement>(null);
  const remove = (id: string): void => {
    change(withoutFile(draft, ready.models, id));
    drop.current?.querySelector("button")?.focus();
  };
  return (
    <>
      <div ref={drop} className="new-job-drop" data-invalid={isUnchosen || undefined}>
        <p>
          <span className="drop-hint">{t(newJobText.dropHere)}</span>{" "}
          <ChooseFiles look="quiet" text={t(newJobText.chooseFiles)} />
        </p>
        <p className="hint">{t(newJobText.formats)}</p>
        {isUnchosen && (
          <p className="hint failed" role="alert">
            {t(newJobText.noFiles)}
          </p>
        )}
      </div>
      {files.length > 0 && (
        <ul className="new-job-files" aria-label={t(newJobText.files)}>
          {files.map((file) => (
            <ChosenFile
              key={file.id}
              chosen={file}
              problem={fileProblem(file) ?? problems?.get(file.id)}
              languages={files.length > 1 ? languages : []}
              ready={ready}
              onChange={(fields) =>
                change({
                  files: files.map((other) => (other === file ? { ...file, ...fields } : other)),
                })
              }
              onRemove={() => remove(file.id)}
            />
          ))}
        </ul>
      )}
    </>
  );
}

/** A chosen file with its title, its probable type and, if there are several, its language. */
function ChosenFile({
  chosen,
  problem,
  languages,
  ready,
  onChange,
  onRemove,
}: {
  readonly chosen: DraftFile;
  readonly problem: FileProblem | undefined;
  readonly languages: readonly string[];
  readonly ready: ReadyDraft;
  readonly onChange: (fields: Partial<DraftFile>) => void;
  readonly onRemove: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { file, subject } = chosen;
  const { languageCode, recognition } = ready;
  const { unused } = recognitionOfFile(ready, chosen);
  const kind = { AUDIO: newJobText.audio, VIDEO: newJobText.video, UNKNOWN: newJobText.unknown };
  const found = kindOfFile(file);
  const facts = [file.name, bytesText(language, file.size)];
  if (found !== "OTHER") facts.push(t(kind[found]));
  return (
    <li>
      <TextInput
        label={t(newJobText.subject)}
        hint={facts.join(" · ")}
        problem={useFileProblem(problem, subject)}
        value={subject}
        onChange={(text) => onChange({ subject: text })}
      />
      {languages.length > 1 && (
        <Choice
          label={t(newJobText.languageOfFile)(file.name)}
          isLabelSeen={false}
          value={chosen.languageCode ?? ""}
          options={[
            { value: "", text: t(newJobText.sameLanguage)(t(languageName(languageCode))) },
            ...languages
              .filter((code) => code !== languageCode || code === chosen.languageCode)
              .map((code) => ({ value: code, text: t(newJobText.spoken)(t(languageName(code))) })),
          ]}
          onChange={(code) => onChange({ languageCode: code === "" ? undefined : code })}
        />
      )}
      {unused.map((each) => (
        <p key={each} className="hint">
          {each === "MODEL" && t(newJobText.modelUnused)(recognition.model)}
          {each === "WORDS" && t(newJobText.wordsUnused)}
          {each === "WORDS_NOT_TAKEN" && t(newJobText.wordsNotTaken)}
        </p>
      ))}
      <Button look="quiet" aria-label={t(newJobText.removeFile)(file.name)} onPress={onRemove}>
        {t(newJobText.remove)}
      </Button>
    </li>
  );
}

function useFileProblem(problem: FileProblem | undefined, subject: string): ReactNode {
  const t = useText();
  const { language } = useLanguage();
  const chars = charCount(subject);
  const max = metadataLimits.subjectChars;
  if (chars > max) return t(newJobText.tooLong)(chars, max);
  switch (problem?.kind) {
    case "NOT_MEDIA":
      return t(newJobText.notMedia);
    case "EMPTY":
      return t(newJobText.emptyFile);
    case "TOO_LARGE":
      return t(newJobText.tooLarge)(bytesText(language, problem.bytesMax));
    case "SUBJECT":
      return <SaidText said={jobViolationText(problem.violation)} />;
    case undefined:
      break;
  }
  return undefined;
}
