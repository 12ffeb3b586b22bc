import { type SubmitEvent, useEffect, useState } from "react";
import { Link } from "wouter";
import { Button } from "../parts/button.tsx";
import { ChipButton } from "../parts/chip-button.tsx";
import { useText } from "../text/language.tsx";
import { transcriptsText } from "../text/transcripts.ts";
import { type Search, subjectCharsMax } from "./search.ts";
import "./search-bar.css";

/** So long after the last letter the search begins. */
const pauseMs = 250;

/** Where titles are searched, and the keywords that the list is searched by. */
export function SearchBar({
  search,
  onSearch,
  mayCreate,
}: {
  readonly search: Search;
  readonly onSearch: (search: Search) => void;
  readonly mayCreate: boolean;
}) {
  const t = useText();
  const { subject, keywords } = search;
  const [typed, setTyped] = useState(subject);
  const [told, setTold] = useState(subject);
  // The address has changed by itself: the reader went back, or pressed a keyword.
  if (subject !== told) {
    setTold(subject);
    setTyped(subject);
  }
  const text = typed.trim();
  const isTold = text === told;
  const tell = () => {
    setTold(text);
    onSearch({ subject: text, keywords: [] });
  };
  useEffect(() => {
    if (isTold) return undefined;
    const timer = setTimeout(tell, pauseMs);
    return () => clearTimeout(timer);
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isTold) tell();
  };
  return (
    <search className="search-bar" aria-label={t(transcriptsText.search)}>
      <form onSubmit={submit}>
        <input
          type="search"
          className="input"
          aria-label={t(transcriptsText.searchTitles)}
          placeholder={t(transcriptsText.searchTitles)}
          maxLength={subjectCharsMax}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </form>
      {keywords.map((keyword) => (
        <ChipButton
          key={keyword}
          text={keyword}
          label={t(transcriptsText.withoutKeyword)(keyword)}
          isTaken
          onPress={() =>
            onSearch({ subject: "", keywords: keywords.filter((other) => other !== keyword) })
          }
        />
      ))}
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
