import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import type { ValueCountJson } from "../../gen/hlust/transcripts/v1alpha1/several_pb.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { filtersText } from "../text/filters.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { numberText } from "../text/numbers.ts";
import { transcriptsText } from "../text/transcripts.ts";
import { countsQuery } from "./counts-query.ts";
import { filterOf, type Filters, hasFilters, noFilters, type Search, sorts } from "./search.ts";
import "../parts/fields.css";
import "./filter-panel.css";

/** The filters of the list and its order; what can be chosen has the number of transcripts. */
export function FilterPanel({
  search,
  onSearch,
}: {
  readonly search: Search;
  readonly onSearch: (change: Partial<Search>) => void;
}) {
  const t = useText();
  const filter = filterOf(search);
  const counts = useQuery({ ...countsQuery(filter), placeholderData: (before) => before });
  const { filters, keywords, sort } = search;
  const { languages = [], speakers = [] } = counts.data ?? {};
  const set = (change: Partial<Filters>) => onSearch({ filters: { ...filters, ...change } });
  const left = (counts.data?.keywords ?? []).filter(({ value = "" }) => !keywords.includes(value));
  const nameOf = (code: string) => t(languageName(code));
  return (
    <section className="filter-panel" aria-label={t(filtersText.panel)}>
      <Choice
        label={t(filtersText.sort)}
        value={sort}
        options={sorts.map((each) => ({ value: each, text: t(transcriptsText.sortOf[each]) }))}
        onChange={(chosen) => onSearch({ sort: chosen })}
      />
      <CountedChoice
        label={t(filtersText.language)}
        value={filters.language}
        all={t(filtersText.all)}
        counts={languages}
        nameOf={nameOf}
        onChange={(language) => set({ language })}
      />
      <CountedChoice
        label={t(filtersText.keyword)}
        value=""
        all={t(filtersText.addKeyword)}
        counts={left}
        onChange={(keyword) => onSearch({ subject: "", keywords: [...keywords, keyword] })}
      />
      <CountedChoice
        label={t(filtersText.speaker)}
        value={filters.speaker}
        all={t(filtersText.allSpeakers)}
        counts={speakers}
        onChange={(speaker) => set({ speaker })}
      />
      {(["from", "to"] as const).map((name) => (
        <Field
          key={name}
          label={t(filtersText[name])}
          type="date"
          value={filters[name]}
          onChange={(day) => set({ [name]: day })}
        />
      ))}
      {(["longer", "shorter"] as const).map((name) => (
        <Field
          key={name}
          label={t(filtersText[name])}
          type="number"
          value={filters[name]}
          onChange={(minutes) => set({ [name]: minutes })}
        />
      ))}
      {hasFilters(filters) && (
        <Button look="quiet" onPress={() => onSearch({ filters: noFilters })}>
          {t(filtersText.clear)}
        </Button>
      )}
      {counts.error && <ProblemNote error={counts.error} onRetry={() => void counts.refetch()} />}
    </section>
  );
}

/** A choice of a value that transcripts have, or of all. The chosen one stays without a count. */
function CountedChoice({
  label,
  value,
  all,
  counts,
  nameOf,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly all: string;
  readonly counts: readonly ValueCountJson[];
  readonly nameOf?: (value: string) => string;
  readonly onChange: (value: string) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const isListed = value === "" || counts.some((each) => each.value === value);
  return (
    <Choice
      label={label}
      value={value}
      options={[
        { value: "", text: all },
        ...(isListed ? [] : [{ value, text: nameOf?.(value) ?? value }]),
        ...counts.map(({ value: each = "", count = 0 }) => ({
          value: each,
          text: t(filtersText.withCount)(nameOf?.(each) ?? each, numberText(language, count)),
        })),
      ]}
      onChange={onChange}
    />
  );
}

/** A day or a number, which takes effect when it is complete. */
function Field({
  label,
  type,
  value,
  onChange,
}: {
  readonly label: string;
  readonly type: "date" | "number";
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        type={type}
        value={value}
        min={type === "number" ? 0 : undefined}
        max={type === "number" ? 9999 : undefined}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}
