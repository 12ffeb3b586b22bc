import { useQuery } from "@tanstack/react-query";
import { ProblemNote } from "../parts/problem-note.tsx";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { bytesText } from "../text/numbers.ts";
import { overviewText } from "../text/overview.ts";
import { modelsQuery } from "../api/installed-languages.ts";

/** The installed models with their languages and sizes. */
export function Models() {
  const t = useText();
  const { language } = useLanguage();
  const models = useQuery(modelsQuery);
  return (
    <section aria-labelledby="models">
      <h2 id="models">{t(overviewText.models)}</h2>
      {models.error && !models.data && (
        <ProblemNote error={models.error} onRetry={() => void models.refetch()} />
      )}
      <ul className="models-list">
        {models.data?.map(({ name = "", languageCodes = [], sizeBytes = "0" }) => (
          <li key={name}>
            <span className="model-name">{name}</span>
            <span className="model-facts">
              {languageCodes.length === 0
                ? t(overviewText.speakersModel)
                : [...new Set(languageCodes.map((code) => t(languageName(code))))].join(", ")}
              {Number(sizeBytes) > 0 && ` · ${bytesText(language, Number(sizeBytes))}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
