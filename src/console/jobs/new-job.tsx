import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  type ReactNode,
  type RefObject,
  type SubmitEvent,
  useEffect,
  useRef,
  useState,
} from "react";
import type { TranscriptJobJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError, type FieldViolation } from "../api/api-error.ts";
import { currentIdentity, identityOf } from "../api/session.ts";
import { keepSpokenLanguage } from "../api/spoken-language.ts";
import { useSession } from "../api/use-session.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { SaidText } from "../parts/said-text.tsx";
import { jobViolationText } from "../text/job-violations.ts";
import { newJobText } from "../text/jobs.ts";
import { languageName } from "../text/language-names.ts";
import { useText } from "../text/language.tsx";
import { useUploads } from "../upload/uploads.tsx";
import { useUploadQueue } from "../upload/use-upload-queue.ts";
import { toLanguage } from "./file-recognition.ts";
import { emptyDraft, type JobDraft, type ReadyDraft } from "./job-draft.ts";
import { NewJobDetails } from "./new-job-details.tsx";
import { NewJobFiles } from "./new-job-files.tsx";
import { NewJobUrl } from "./new-job-url.tsx";
import { checkFiles, requestOfFile, submitUrl, type DraftProblems } from "./send-draft.ts";
import { NewJobRecognition } from "./new-job-recognition.tsx";
import { type DraftOptions, useDraftOptions } from "./use-draft-options.ts";
import { keepWritten } from "./written-fields.ts";
import { WrittenChoice } from "./written-choice.tsx";
import "./new-job.css";

/**
 * The form for a new job. Its content is preserved until it is sent, even while the form is closed
 * or another page is open.
 */
export function NewJob({
  onSubmitted,
  onClose,
}: {
  readonly onSubmitted: (job: TranscriptJobJson) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const { draft, change } = useUploads();
  const options = useDraftOptions(draft);
  const { ready, languages, writtenByDefault } = options;
  const { send, problems, isUnchosen } = useSending(options, onSubmitted);
  const form = useRef<HTMLFormElement>(null);
  useFirstProblem(form, problems, isUnchosen);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    send.mutate(ready);
  };
  const problemIn = (field: string): ReactNode => {
    const found = problems?.violations.find((violation) => violation.field === field);
    return found && <SaidText said={jobViolationText(found)} />;
  };
  return (
    <form ref={form} className="new-job" onSubmit={submit} noValidate>
      <h2>{t(newJobText.title)}</h2>
      <SourceChoice way={draft.way} onChange={(way) => change({ way })} />
      {draft.way === "FILES" ? (
        <NewJobFiles
          problems={problems?.files}
          isUnchosen={isUnchosen}
          languages={languages}
          ready={ready}
        />
      ) : (
        <NewJobUrl draft={draft} onChange={change} problemIn={problemIn} />
      )}
      <div className="new-job-language">
        <Choice
          label={t(newJobText.language)}
          value={ready.languageCode}
          options={languages.map((value) => ({
            value,
            text: t(newJobText.spoken)(t(languageName(value))),
          }))}
          onChange={(languageCode) => change(toLanguage(draft, ready.models, languageCode))}
        />
        <FieldProblem problem={problemIn("metadata.languageCode")} />
      </div>
      <WrittenChoice
        isWritten={ready.isWritten}
        onChange={(chosen) => {
          keepWritten(chosen, writtenByDefault);
          change({ isWritten: chosen });
        }}
      />
      <NewJobRecognition
        ready={ready}
        unused={options.unused}
        onChange={change}
        violations={problems?.violations ?? noViolations}
      />
      <NewJobDetails
        draft={draft}
        onChange={change}
        violations={problems?.violations ?? noViolations}
      />
      <OtherProblems violations={problems?.violations ?? noViolations} />
      {send.error && !hasViolations(send.error) && <ProblemNote error={send.error} />}
      <div className="new-job-actions">
        <Button type="submit" look="primary" isPending={send.isPending}>
          {t(newJobText.submit)}
        </Button>
        <Button onPress={onClose}>{t(newJobText.close)}</Button>
      </div>
    </form>
  );
}

/** What replaces a draft that was sent. */
const nextDraft = {
  ...emptyDraft,
  languageCode: undefined,
  isWritten: undefined,
  recognition: undefined,
  words: undefined,
};

const noViolations: readonly FieldViolation[] = [];

/** Sends the draft, and clears it once the service or the upload queue has accepted it. */
function useSending(
  { languageByDefault }: DraftOptions,
  onSubmitted: (job: TranscriptJobJson) => void,
) {
  const owner = identityOf(useSession());
  const queries = useQueryClient();
  const { draft, change } = useUploads();
  const queue = useUploadQueue();
  // One draft creates one job, even if the draft is sent again after a lost response.
  const last = useRef<{ readonly draft?: ReadyDraft; readonly key: string }>({ key: "" });
  const [problems, setProblems] = useState<DraftProblems>();
  const [isUnchosen, setIsUnchosen] = useState(false);
  const keepLanguage = ({ languageCode }: ReadyDraft): void => {
    const isChosen = draft.languageCode === languageCode && draft.hasFileLanguage !== true;
    if (isChosen) keepSpokenLanguage(languageCode, languageByDefault);
  };
  const send = useMutation({
    async mutationFn(sent: ReadyDraft): Promise<TranscriptJobJson | undefined> {
      const lacksFiles = sent.way === "FILES" && sent.files.length === 0;
      setIsUnchosen(lacksFiles);
      setProblems(undefined);
      if (lacksFiles) return undefined;
      if (sent.way === "URL") {
        const { key } = last.current;
        const isSame = key !== "" && last.current.draft === sent;
        last.current = { draft: sent, key: isSame ? key : crypto.randomUUID() };
        const job = await submitUrl(sent, last.current.key);
        keepLanguage(sent);
        return job;
      }
      const found = await checkFiles(sent).catch(nothingIfSessionChanged);
      if (found) {
        setProblems(found);
        return undefined;
      }
      for (const file of sent.files) {
        queue.add(owner, file.file, requestOfFile(sent, file));
      }
      keepLanguage(sent);
      change(nextDraft);
      return undefined;
    },
    onSuccess(job) {
      if (!job) return;
      change(nextDraft);
      // The list may belong to another user by now.
      if (currentIdentity(queries) === owner) onSubmitted(job);
    },
    onError(error) {
      if (hasViolations(error)) setProblems({ violations: error.violations, files: new Map() });
    },
  });
  return { send, problems, isUnchosen: isUnchosen && draft.files.length === 0 };
}

/**
 * Ignores the error that another account is signed in by now. The files wait, unchecked, until
 * their owner signs in again.
 */
function nothingIfSessionChanged(error: unknown): undefined {
  if (error instanceof ApiError && error.reason === "SESSION_CHANGED") return undefined;
  throw error;
}

function hasViolations(error: unknown): error is ApiError {
  return error instanceof ApiError && error.violations.length > 0;
}

/** The fields that the form contains. Each field shows its own violations. */
const shownFields =
  /^(uri|speechContexts.*|metadata\.(languageCode|subject|description|keywords(\[\d+\])?))$/;

/** The violations in fields that the form does not contain. */
function OtherProblems({ violations }: { readonly violations: readonly FieldViolation[] }) {
  return violations
    .filter(({ field }) => !shownFields.test(field))
    .map((other) => (
      <FieldProblem
        key={`${other.field} ${other.description}`}
        problem={<SaidText said={jobViolationText(other)} />}
      />
    ));
}

/** The problem with the field above this element. */
function FieldProblem({ problem }: { readonly problem: ReactNode }) {
  return problem === undefined ? null : (
    <p className="hint failed" role="alert">
      {problem}
    </p>
  );
}

/** Moves the keyboard focus to the first field with a problem. */
function useFirstProblem(
  form: RefObject<HTMLFormElement | null>,
  problems: DraftProblems | undefined,
  isUnchosen: boolean,
): void {
  useEffect(() => {
    if (!problems && !isUnchosen) return;
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [form, problems, isUnchosen]);
}

/** The choice between files on this device and a URL. */
function SourceChoice({
  way,
  onChange,
}: {
  readonly way: JobDraft["way"];
  readonly onChange: (way: JobDraft["way"]) => void;
}) {
  const t = useText();
  const ways = [
    { value: "FILES", text: t(newJobText.wayFiles) },
    { value: "URL", text: t(newJobText.wayUrl) },
  ] as const;
  return (
    <fieldset className="new-job-ways">
      <legend className="unseen">{t(newJobText.way)}</legend>
      {ways.map(({ value, text }) => (
        <label key={value}>
          <input
            type="radio"
            name="way"
            value={value}
            checked={way === value}
            onChange={() => onChange(value)}
          />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
