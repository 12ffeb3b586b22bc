import { useMutation, useQuery } from "@tanstack/react-query";
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
import { useUploads } from "../upload/uploads.tsx";
import { modelsQuery } from "../api/heard-languages.ts";
import { fetchSample, requestFor, samples, type Sample } from "./samples.ts";

/** What to do first where there is nothing yet, in three steps. */
export function FirstSteps() {
  const t = useText();
  const { scopes } = useSession();
  const heard = useHeardSamples();
  if (!scopes.includes("transcripts.write")) {
    return (
      <Empty title={t(firstStepsText.onlyReading)}>
        <p>{t(firstStepsText.onlyReadingNext)}</p>
      </Empty>
    );
  }
  const [first] = heard;
  return (
    <section className="first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">{t(firstStepsText.title)}</h2>
      <ol>
        <li>
          <h3>{t(firstStepsText.tryIt)}</h3>
          <p>{t(firstStepsText.tryItNext)}</p>
          <TrySamples heard={heard} />
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

/** Samples in languages that jobs are heard in, that of the reader first. */
function useHeardSamples(): readonly Sample[] {
  const { language } = useLanguage();
  const { data: models = [] } = useQuery(modelsQuery);
  return samples
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

/** A press sends the sample, and goes to where its job is. */
function TrySamples({ heard }: { readonly heard: readonly Sample[] }) {
  const t = useText();
  const session = useSession();
  const { queue } = useUploads();
  const [, goTo] = useLocation();
  const attempt = useMutation({
    mutationFn: fetchSample,
    onSuccess: (file, { languageCode, subject }) => {
      const keywords = [t(sampleText.keyword)];
      queue.add(identityOf(session), file, {
        fileType: "AUDIO",
        languageCode,
        subject: t(subject),
        keywords,
      });
      goTo("/jobs");
    },
  });
  return (
    <>
      <div className="first-steps-ways">
        {heard.map((sample, at) => (
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
