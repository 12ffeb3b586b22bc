import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link, useLocation } from "wouter";
import { identityOf } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { Button } from "../parts/button.tsx";
import { CodeSample } from "../parts/code-sample.tsx";
import { Empty } from "../parts/empty.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { firstStepsText, sampleText } from "../text/overview.ts";
import { readWritten, writtenFields } from "../jobs/written-fields.ts";
import { openWhenReady } from "../jobs/open-when-ready.ts";
import { useUploadQueue } from "../upload/use-upload-queue.ts";
import { modelsQuery } from "../api/installed-languages.ts";
import { allSamples, fetchSample, requestFor, type Sample } from "./samples.ts";

/**
 * The first three steps. `onShown` is called when they are shown to an account without transcripts;
 * `onEnd` hides them in an account that has some.
 */
export function FirstSteps({
  onShown,
  onEnd,
}: {
  readonly onShown?: () => void;
  readonly onEnd?: () => void;
}) {
  const t = useText();
  useEffect(() => onShown?.(), [onShown]);
  const { scopes } = useSession();
  const samples = useSamples();
  if (!scopes.includes("transcripts.write")) {
    return (
      <Empty title={t(firstStepsText.onlyReading)}>
        <p>{t(firstStepsText.onlyReadingNext)}</p>
      </Empty>
    );
  }
  const [first] = samples;
  return (
    <section className="first-steps" aria-labelledby="first-steps">
      <div className="first-steps-head">
        <h2 id="first-steps">{t(firstStepsText.title)}</h2>
        {onEnd && (
          <Button look="quiet" onPress={onEnd}>
            {t(firstStepsText.hide)}
          </Button>
        )}
      </div>
      <ol>
        <li>
          <h3>{t(firstStepsText.tryIt)}</h3>
          <p>{t(firstStepsText.tryItNext)}</p>
          <TrySamples samples={samples} />
        </li>
        <li>
          <h3>{t(firstStepsText.ownOne)}</h3>
          <p>{t(firstStepsText.ownOneNext)}</p>
          <div className="first-steps-ways">
            <Link className="button" to="/jobs?new">
              {t(firstStepsText.newJob)}
            </Link>
            {scopes.includes("speech") && (
              <Link className="button" to="/live">
                {t(firstStepsText.speak)}
              </Link>
            )}
          </div>
        </li>
        <li>
          <h3>{t(firstStepsText.program)}</h3>
          <p>{t(firstStepsText.programNext)}</p>
          {first && (
            <CodeSample
              label={t(firstStepsText.request)}
              text={requestFor(first, location.origin)}
            />
          )}
          {scopes.includes("account") && (
            <div className="first-steps-ways">
              <Link className="button" to="/keys">
                {t(firstStepsText.newKey)}
              </Link>
            </div>
          )}
        </li>
      </ol>
    </section>
  );
}

/** Returns the samples in languages that have a model for jobs, the user's language first. */
function useSamples(): readonly Sample[] {
  const { language } = useLanguage();
  const { data: models = [] } = useQuery(modelsQuery);
  return allSamples
    .filter(({ languageCode }) =>
      models.some(
        ({ languageCodes, uses }) => languageCodes?.includes(languageCode) && uses?.includes("JOB"),
      ),
    )
    .toSorted(
      (a, b) =>
        Number(b.languageCode.startsWith(language)) - Number(a.languageCode.startsWith(language)),
    );
}

/** Buttons that submit a sample and open the jobs page. */
function TrySamples({ samples }: { readonly samples: readonly Sample[] }) {
  const t = useText();
  const session = useSession();
  const queue = useUploadQueue();
  const [, goTo] = useLocation();
  const attempt = useMutation({
    mutationFn: fetchSample,
    onSuccess: (file, { languageCode, subject }) => {
      const keywords = [t(sampleText.keyword)];
      const metadata = { fileType: "AUDIO", languageCode, subject: t(subject), keywords } as const;
      const request = { metadata, ...writtenFields(readWritten()) };
      queue.add(identityOf(session), file, request, { onJob: openWhenReady });
      goTo("/jobs");
    },
  });
  return (
    <>
      <div className="first-steps-ways">
        {samples.map((sample, at) => (
          <Button
            key={sample.languageCode}
            look={at === 0 ? "primary" : "plain"}
            isPending={attempt.isPending}
            onPress={() => attempt.mutate(sample)}
          >
            {t(firstStepsText.trySample)(t(languageName(sample.languageCode)))}
          </Button>
        ))}
      </div>
      {attempt.error && <ProblemNote error={attempt.error} />}
    </>
  );
}
