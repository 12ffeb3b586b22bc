import { Link } from "wouter";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { useText } from "../text/language.tsx";
import { transcriptsText } from "../text/transcripts.ts";
import { everything, hasFilters, type Search } from "./search.ts";

/** The content that replaces an empty list: why there are no rows, and what to do. */
export function NothingHere({
  search,
  mayCreate,
  maySpeak,
  onSearch,
}: {
  readonly search: Search;
  readonly mayCreate: boolean;
  readonly maySpeak: boolean;
  readonly onSearch: (search: Search) => void;
}) {
  const t = useText();
  const { subject, keywords, filters } = search;
  const isFiltered = hasFilters(filters);
  if (subject === "" && keywords.length === 0 && !isFiltered) {
    return (
      <Empty title={t(transcriptsText.none)}>
        <p>{t(mayCreate ? transcriptsText.noneNext : transcriptsText.noneToSee)}</p>
        {mayCreate && maySpeak && (
          <Link to="/live" className="button">
            {t(transcriptsText.speak)}
          </Link>
        )}
      </Empty>
    );
  }
  return (
    <Empty title={t(transcriptsText.nothingFound)}>
      <p>
        {isFiltered && t(transcriptsText.noneFiltered)}
        {!isFiltered && keywords.length > 0 && t(transcriptsText.noKeyword)(keywords)}
        {!isFiltered && keywords.length === 0 && t(transcriptsText.noSubject)(subject)}
      </p>
      <Button onPress={() => onSearch(everything)}>{t(transcriptsText.showAll)}</Button>
    </Empty>
  );
}
