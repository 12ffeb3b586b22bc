import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useCallback, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useInstalledLanguages } from "../api/installed-languages.ts";
import { charCount, metadataLimits } from "../api/metadata-limits.ts";
import { spokenLanguage } from "../api/spoken-language.ts";
import { useSession } from "../api/use-session.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { importText } from "../text/import.ts";
import { newJobText } from "../text/jobs.ts";
import { languageName, namedLanguages } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { takeDrops, takeKept } from "../upload/dropped-files.ts";
import { importedFiles, importedFormat } from "../upload/imported-format.ts";
import { chosenText, type ChosenText } from "./chosen-text.ts";
import { importFile } from "./import-file.ts";
import { ImportRow } from "./import-row.tsx";
import "../jobs/new-job.css";
import "../parts/rows.css";

/** The page that imports files of subtitles, text and transcripts. */
export function ImportPage() {
  const t = useText();
  const mayWrite = useSession().scopes.includes("transcripts.write");
  return (
    <>
      <PageHead title={t(importText.title)} sub={t(importText.sub)} />
      {mayWrite ? <ImportForm /> : <p>{t(importText.notAllowed)}</p>}
    </>
  );
}

function ImportForm() {
  const t = useText();
  const { files, add, change, remove } = useChosen();
  const [isUnchosen, setIsUnchosen] = useState(false);
  const { language } = useLanguage();
  const installed = useInstalledLanguages("JOB");
  const [chosen, setChosen] = useState<string>();
  const languageCode = chosen ?? spokenLanguage(installed, language);
  const languages = [
    ...installed,
    ...namedLanguages.filter((code) => !installed.some((other) => other.startsWith(`${code}-`))),
  ];
  const { send, start, done } = useImport(change);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (send.isSuccess) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [send.isSuccess]);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setIsUnchosen(files.length === 0);
    const isLong = files.some(({ subject }) => charCount(subject) > metadataLimits.subjectChars);
    if (files.length > 0 && !isLong && !send.isPending) start({ files, languageCode });
  };
  const isOwn = files.length > 0 && files.every(({ file }) => importedFormat(file) === "JSON");
  return (
    <form ref={form} className="new-job" onSubmit={submit} noValidate>
      <DropArea isUnchosen={isUnchosen && files.length === 0} onFiles={add} />
      {files.length > 0 && (
        <ul className="new-job-files" aria-label={t(importText.files)}>
          {files.map((each) => (
            <ImportRow
              key={each.id}
              chosen={each}
              isPending={send.isPending}
              onName={(subject) => change(each.id, { subject })}
              onRemove={() => {
                remove(each.id);
                form.current?.querySelector("button")?.focus();
              }}
            />
          ))}
        </ul>
      )}
      {!isOwn && (
        <div className="new-job-language">
          <Choice
            label={t(importText.language)}
            value={languageCode}
            options={languages.map((value) => ({
              value,
              text: t(newJobText.spoken)(t(languageName(value))),
            }))}
            onChange={setChosen}
          />
        </div>
      )}
      <div className="new-job-actions">
        <Button type="submit" look="primary" isPending={send.isPending}>
          {t(importText.submit)}
        </Button>
      </div>
      {done.length > 0 && (
        <section>
          <h2 id="imported-title">{t(importText.done)}</h2>
          <ul className="rows" aria-labelledby="imported-title">
            {done.map(({ name, title }) => (
              <li key={name} className="row">
                <Link to={`/${name}`} className="title" dir="auto">
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </form>
  );
}

/** The chosen files, to which the page adds those that are dropped on it. */
function useChosen() {
  const [files, setFiles] = useState<readonly ChosenText[]>(() => takeKept().map(chosenText));
  const add = useCallback((more: readonly File[]): void => {
    setFiles((before) => [...before, ...more.map(chosenText)]);
  }, []);
  const change = useCallback((id: string, fields: Partial<ChosenText> | undefined): void => {
    setFiles((before) =>
      before.flatMap((file) => {
        if (file.id !== id) return [file];
        return fields ? [{ ...file, problem: undefined, ...fields }] : [];
      }),
    );
  }, []);
  useEffect(() => {
    return takeDrops((dropped) => {
      add(dropped);
      return true;
    });
  }, [add]);
  return { files, add, change, remove: (id: string) => change(id, undefined) };
}

interface ImportedText {
  readonly name: string;
  readonly title: string;
}

/**
 * Imports the files one after another. Those that were imported leave the form; a single one is
 * opened.
 */
function useImport(change: (id: string, fields: Partial<ChosenText> | undefined) => void) {
  const [, goTo] = useLocation();
  const t = useText();
  const notify = useNotify();
  const queries = useQueryClient();
  const [done, setDone] = useState<readonly ImportedText[]>([]);
  const send = useMutation({
    async mutationFn({
      files,
      languageCode,
    }: {
      readonly files: readonly ChosenText[];
      readonly languageCode: string;
    }) {
      const names: string[] = [];
      for (const { id, file, subject } of files) {
        const result = await importFile(file, { subject, languageCode });
        if ("problem" in result) {
          change(id, { problem: result.problem });
          continue;
        }
        const { name } = result;
        names.push(name);
        change(id, undefined);
        setDone((before) => [...before, { name, title: subject.trim() || file.name }]);
      }
      return { names, failed: files.length - names.length };
    },
    onSuccess({ names, failed }) {
      void queries.invalidateQueries({ queryKey: ["transcripts"] });
      notify(failed > 0 ? t(importText.notImported)(failed) : t(importText.imported)(names.length));
    },
  });
  const start = (given: Parameters<typeof send.mutate>[0]): void =>
    send.mutate(given, {
      // Not called once the page was left.
      onSuccess: ({ names: [name], failed }) => {
        if (name !== undefined && given.files.length === 1 && failed === 0) goTo(`/${name}`);
      },
    });
  return { send, start, done };
}

function DropArea({
  isUnchosen,
  onFiles,
}: {
  readonly isUnchosen: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}) {
  const t = useText();
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="new-job-drop" data-invalid={isUnchosen || undefined}>
      <p>
        <span className="drop-hint">{t(importText.drop)}</span>{" "}
        <Button look="quiet" onPress={() => input.current?.click()}>
          {t(importText.choose)}
        </Button>
      </p>
      <p className="hint">{t(importText.formats)}</p>
      <p className="hint">{t(importText.textHint)}</p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={importedFiles}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The value is reset so that the same file can be chosen again.
          target.value = "";
        }}
      />
      {isUnchosen && (
        <p className="hint failed" role="alert">
          {t(importText.none)}
        </p>
      )}
    </div>
  );
}
