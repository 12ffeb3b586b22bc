import { Button } from "../parts/button.tsx";
import { saveFile } from "../parts/save-file.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { numberText, spanText } from "../text/numbers.ts";
import { usageText } from "../text/usage.ts";
import { csvOf, type NamedUse, secondsIn, sumOf, type Use } from "./use.ts";
import "./usage-page.css";

/**
 * A table of use with its sum, and a button that downloads it as CSV. `labelOf` returns how a row
 * is named on the page; the file has `name`, except for keys, which have their label there too.
 */
export function UsageTable({
  id,
  title,
  first,
  rows,
  labelOf,
  csv,
}: {
  readonly id: string;
  readonly title: string;
  /** The head of the first column. */
  readonly first: string;
  readonly rows: readonly NamedUse[];
  readonly labelOf: (name: string) => string;
  readonly csv: {
    readonly text: string;
    readonly column: string;
    readonly fileName: string;
    readonly isLabeled?: boolean;
  };
}) {
  const t = useText();
  const save = () => {
    const named = csv.isLabeled
      ? rows.map(({ name, use }) => ({ name: labelOf(name), use }))
      : rows;
    saveFile(new Blob([csvOf(csv.column, named)], { type: "text/csv" }), csv.fileName);
  };
  return (
    <div>
      <div className="use-head">
        <h2 id={id}>{title}</h2>
        <Button look="quiet" onPress={save}>
          {csv.text}
        </Button>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard must reach a table that scrolls */}
      <section className="use-scroll" tabIndex={0} aria-labelledby={id}>
        <table className="use-table">
          <thead>
            <tr>
              <th scope="col">{first}</th>
              <th scope="col">{t(usageText.audio)}</th>
              <th scope="col">{t(usageText.jobs)}</th>
              <th scope="col">{t(usageText.live)}</th>
              <th scope="col">{t(usageText.short)}</th>
              <th scope="col">{t(usageText.requests)}</th>
              <th scope="col">{t(usageText.console)}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, use }) => (
              <Row key={name} label={labelOf(name)} use={use} />
            ))}
          </tbody>
          <tfoot>
            <Row label={t(usageText.total)} use={sumOf(rows.map(({ use }) => use))} />
          </tfoot>
        </table>
      </section>
    </div>
  );
}

function Row({ label, use }: { readonly label: string; readonly use: Use }) {
  const { language } = useLanguage();
  const span = (seconds: number) => (seconds === 0 ? "–" : spanText(language, seconds));
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>{span(secondsIn(use))}</td>
      <td>{span(use.jobSeconds)}</td>
      <td>{span(use.liveSeconds)}</td>
      <td>{span(use.shortSeconds)}</td>
      <td>{numberText(language, use.requests)}</td>
      <td>{numberText(language, use.console)}</td>
    </tr>
  );
}
