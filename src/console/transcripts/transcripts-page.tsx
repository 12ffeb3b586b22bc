import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useSession } from "../api/use-session.ts";
import { useAnnounce } from "../parts/announcer.tsx";
import { loadLater } from "../parts/load-later.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { transcriptsText } from "../text/transcripts.ts";
import { countsQuery } from "./counts-query.ts";
import { DeletedNote } from "./deleted-note.tsx";
import { NothingHere } from "./nothing-here.tsx";
import { type ListPages, rowCount } from "./list-pages.ts";
import { SearchBar } from "./search-bar.tsx";
import { filterOf, hasFilters, readSearch, type Search, searchQuery } from "./search.ts";
import { useSelection } from "./use-selection.ts";
import { TranscriptRows } from "./transcript-rows.tsx";
import { useListPages } from "./use-list-pages.ts";

const FilterPanel = loadLater(async () => (await import("./filter-panel.tsx")).FilterPanel);
const SelectionBar = loadLater(async () => (await import("./selection-bar.tsx")).SelectionBar);

/** The account's transcripts, last changed first, with a search, which is stored in the address. */
export function TranscriptsPage() {
  const { account } = useSession();
  return <Transcripts key={account.name} />;
}

function Transcripts() {
  const t = useText();
  const { scopes } = useSession();
  const [, navigate] = useLocation();
  const query = useSearch();
  const search = readSearch(query);
  const filter = filterOf(search);
  const { shown, isWaiting, error, retry, onPage } = useListPages(filter, search.sort);
  const mayCreate = scopes.includes("transcripts.write");
  const find = useCallback(
    (change: Partial<Search>) => {
      const before = readSearch(query);
      const wanted = { ...before, ...change };
      // Further typing replaces the history entry, so that going back leaves the search.
      const isTyping = before.subject !== "" && wanted.subject !== "";
      navigate(`/transcripts${searchQuery(wanted)}`, { replace: isTyping });
    },
    [navigate, query],
  );
  const addKeyword = useCallback(
    (keyword: string) => {
      const { keywords } = readSearch(query);
      find({ subject: "", keywords: [...keywords.filter((other) => other !== keyword), keyword] });
    },
    [find, query],
  );
  const selection = useSelection(shown, filter);
  const [isFiltering, setIsFiltering] = useState(() => hasFilters(search.filters));
  // It stays for the message about the last action.
  const [isSelecting, setIsSelecting] = useState(false);
  if (selection.selected.size > 0 && !isSelecting) setIsSelecting(true);
  const isNothing = shown?.next === undefined && shown?.pages[0]?.rows === 0;
  const sub = useSub(shown, isNothing);
  return (
    <>
      <PageHead title={t(commonText.transcripts)} sub={sub}>
        {mayCreate && (
          <>
            <Link to="/import" className="button">
              {t(transcriptsText.importFiles)}
            </Link>
            <Link to="/bin" className="button">
              {t(transcriptsText.bin)}
            </Link>
          </>
        )}
      </PageHead>
      <DeletedNote />
      <SearchBar
        search={search}
        onSearch={find}
        mayCreate={mayCreate}
        isFiltering={isFiltering}
        onFilter={() => setIsFiltering((before) => !before)}
      />
      {isFiltering && <FilterPanel search={search} onSearch={find} />}
      {isSelecting && <SelectionBar selection={selection} filter={filter} />}
      {error && <ProblemNote error={error} onRetry={retry} />}
      {!shown && !error && <p className="quiet">{t(commonText.loading)}</p>}
      {shown && !error && isNothing && !isWaiting && (
        <NothingHere
          search={search}
          mayCreate={mayCreate}
          maySpeak={scopes.includes("speech")}
          onSearch={find}
        />
      )}
      {shown && !error && !(isNothing && !isWaiting) && (
        <TranscriptRows
          key={shown.id}
          listPages={shown}
          isWaiting={isWaiting}
          onPage={onPage}
          keywords={search.keywords}
          onKeyword={addKeyword}
          selection={selection}
        />
      )}
    </>
  );
}

/** The subtitle, which is also announced to screen readers when a search has a result. */
function useSub(shown: ListPages | undefined, isNothing: boolean): string {
  const t = useText();
  const announce = useAnnounce();
  const { filter = "", sort = "changed", next, pages = [] } = shown ?? {};
  const isFound = filter !== "";
  const isWhole = shown !== undefined && next === undefined && pages.length > 0;
  // A list that is not whole is counted by the service.
  const isPart = shown !== undefined && next !== undefined;
  const { data: counts } = useQuery({ ...countsQuery(filter), enabled: isPart });
  const count = isWhole ? rowCount(shown) : (counts?.count ?? 0);
  const some = t(isFound ? transcriptsText.foundSome : transcriptsText.sortOf[sort]);
  const all = t(isFound ? transcriptsText.found : transcriptsText.count)(count);
  const isCounted = isWhole || (isPart && counts !== undefined && counts.more !== true);
  const sub = isCounted ? all : some;
  const isKnown = pages.length > 0;
  const message = isNothing && isFound ? t(transcriptsText.nothingFound) : sub;
  useEffect(() => {
    if (isFound && isKnown) announce(message);
  }, [isFound, isKnown, message, announce]);
  // The line stays when there is nothing, so that the search field does not move.
  return isNothing && !isFound ? "\u00a0" : message;
}
