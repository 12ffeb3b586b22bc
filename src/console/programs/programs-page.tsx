import { Link } from "wouter";
import { CodeSample } from "../parts/code-sample.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useText } from "../text/language.tsx";
import { programsText } from "../text/programs.ts";
import { openAiAddresses, programSettings } from "./program-settings.ts";
import "./programs.css";

/** What to paste into other programs, so that they use this service. */
export function ProgramsPage() {
  const t = useText();
  const { origin } = window.location;
  const { plain, withLanguage } = openAiAddresses(origin);
  return (
    <div className="programs">
      <PageHead title={t(programsText.title)} sub={t(programsText.sub)} />
      <p>
        {t(programsText.key)} <Link to="/keys">{t(programsText.makeKey)}</Link>
      </p>
      <p>{t(programsText.language)}</p>
      <section aria-labelledby="any-program">
        <h2 id="any-program">{t(programsText.anyProgram)}</h2>
        <p>{t(programsText.anyModel)}</p>
        <h3>{t(programsText.address)}</h3>
        <CodeSample label={t(programsText.address)} text={plain} />
        <h3>{t(programsText.addressWithLanguage)}</h3>
        <CodeSample label={t(programsText.addressWithLanguage)} text={withLanguage} />
      </section>
      {programSettings(origin).map(({ name, where, paste }) => (
        <section key={name}>
          <h2>{name}</h2>
          <p>{t(where)}</p>
          <CodeSample label={name} text={paste} />
        </section>
      ))}
      <p className="quiet">{t(programsText.more)}</p>
    </div>
  );
}
