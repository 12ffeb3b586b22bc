import { useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { keep, readKept } from "../../api/kept.ts";
import { useSession } from "../../api/use-session.ts";
import { CodeSample } from "../../parts/code-sample.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { commonText } from "../../text/common.ts";
import { examplesText as texts } from "../../text/examples.ts";
import { useText } from "../../text/language.tsx";
import { transcriptQuery } from "../transcript-query.ts";
import { type ExampleLanguage, exampleLanguages, examplesOf, exampleTasks } from "./examples.ts";
import "./examples-page.css";

const languages = Object.keys(exampleLanguages).filter(isExampleLanguage);
const languageKeptAs = "hlust.examples";

function isExampleLanguage(name: string): name is ExampleLanguage {
  return Object.hasOwn(exampleLanguages, name);
}

/** Programs that read and change one transcript, ready to be pasted. */
export function ExamplesPage() {
  const t = useText();
  const { scopes } = useSession();
  const { id } = useParams<{ id: string }>();
  const name = `transcripts/${id}`;
  const { data, error, refetch } = useQuery(transcriptQuery(name));
  const [language, setLanguage] = useState<ExampleLanguage>(() => {
    const kept = readKept(languageKeptAs) ?? "";
    return isExampleLanguage(kept) ? kept : "curl";
  });
  const subject = data?.metadata?.subject ?? "";
  const shown = data ? subject || t(texts.untitled) : t(commonText.loading);
  const examples = examplesOf(location.origin, name)[language];
  return (
    <div className="examples">
      <PageHead
        title={t(texts.title)}
        sub={
          <Link to={`/${name}`} dir="auto">
            {shown}
          </Link>
        }
      />
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!error && (
        <>
          <p>
            {t(texts.key)}{" "}
            {scopes.includes("account") && <Link to="/keys">{t(texts.makeKey)}</Link>}
          </p>
          <fieldset className="example-languages">
            <legend>{t(texts.language)}</legend>
            {languages.map((each) => (
              <label key={each}>
                <input
                  type="radio"
                  name="example-language"
                  checked={each === language}
                  onChange={() => {
                    keep(languageKeptAs, each);
                    setLanguage(each);
                  }}
                />
                <span>{exampleLanguages[each]}</span>
              </label>
            ))}
          </fieldset>
          <p className="hint">{t(texts.needs[language])}</p>
          {exampleTasks.map((task) => (
            <section key={`${task} ${language}`} aria-labelledby={`example-${task}`}>
              <h2 id={`example-${task}`}>{t(texts.tasks[task])}</h2>
              <CodeSample
                label={`${t(texts.tasks[task])}, ${exampleLanguages[language]}`}
                text={examples[task]}
              />
            </section>
          ))}
          <p className="quiet">
            {t(texts.more)} <a href="/docs">{t(texts.reference)}</a>
          </p>
        </>
      )}
    </div>
  );
}
