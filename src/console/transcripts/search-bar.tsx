import { type SubmitEvent, useEffect, useState } from "react";
import { Link } from "wouter";
import { Button } from "../parts/button.tsx";
import { ChipButton } from "../parts/chip-button.tsx";
import { useText } from "../text/language.tsx";
import { transcriptsText } from "../text/transcripts.ts";
import { metadataLimits } from "../api/metadata-limits.ts";
import type { Search } from "./search.ts";
import "./search-bar.css";

/** The delay between the last typed character and the start of the search. */
const pauseMs = 250;

/** A field that searches titles, and the keywords of the current search. */
export function SearchBar({
  search,
  onSearch,
  mayCreate,
  isFiltering,
  onFilter,
}: {
  readonly search: Search;
  readonly onSearch: (change: Partial<Search>) => void;
  readonly mayCreate: boolean;
  readonly isFiltering: boolean;
  readonly onFilter: () => void;
}) {
  const t = useText();
  const { subject, keywords } = search;
  const [typed, setTyped] = useState(subject);
  const [searched, setSearched] = useState(subject);
  // The address changed without typing: the user went back, or pressed a keyword.
  if (subject !== searched) {
    setSearched(subject);
    setTyped(subject);
  }
  const text = typed.trim();
  const isSearched = text === searched;
  const searchNow = () => {
    setSearched(text);
    onSearch({ subject: text, keywords: [] });
  };
  useEffect(() => {
    if (isSearched) return undefined;
    const timer = setTimeout(searchNow, pauseMs);
    return () => clearTimeout(timer);
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isSearched) searchNow();
  };
  return (
    <search className="search-bar" aria-label={t(transcriptsText.search)}>
      <form onSubmit={submit}>
        <input
          type="search"
          className="input"
          aria-label={t(transcriptsText.searchTitles)}
          placeholder={t(transcriptsText.searchTitles)}
          maxLength={metadataLimits.subjectChars}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </form>
      {keywords.map((keyword) => (
        <ChipButton
          key={keyword}
          text={keyword}
          label={t(transcriptsText.withoutKeyword)(keyword)}
          isRemovable
          onPress={() =>
            onSearch({ subject: "", keywords: keywords.filter((other) => other !== keyword) })
          }
        />
      ))}
      <Button aria-expanded={isFiltering} onPress={onFilter}>
        {t(transcriptsText.filters)}
      </Button>
      {mayCreate && (
        <Link to="/jobs?new" className="button primary">
          {t(transcriptsText.newJob)}
        </Link>
      )}
      {text !== "" && (
        <Button look="quiet" onPress={() => onSearch({ subject: "", keywords: [text] })}>
          {t(transcriptsText.keywordInstead)(text)}
        </Button>
      )}
    </search>
  );
}
