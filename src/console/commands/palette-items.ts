import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ListTranscriptsResponseJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { useSession } from "../api/use-session.ts";
import type { PageCommand } from "../frame/page-letters.ts";
import { commandsText as texts } from "../text/commands.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { showTheme } from "../theme/theme.ts";
import { everything, searchQuery } from "../transcripts/search.ts";
import { bestMatches } from "./fuzzy.ts";
import { pagesFor } from "./page-list.ts";

/** An item of the palette: what it does, and the keys that do the same. */
export interface PaletteItem {
  readonly id: string;
  readonly text: string;
  readonly keys?: string | undefined;
  /** What is run once the palette is closed. */
  readonly run: PageCommand | (() => void);
}

export interface PaletteGroup {
  readonly kind: "actions" | "pages" | "transcripts";
  readonly items: readonly PaletteItem[];
}

/** The transcripts that the palette offers, the newest first. */
const latestQuery = queryOptions({
  queryKey: ["palette", "transcripts"],
  queryFn: async ({ signal }) => {
    const path = "/v1alpha1/transcripts?pageSize=100";
    const { transcripts = [] } = await callApi<ListTranscriptsResponseJson>(path, { signal });
    return transcripts.map(({ name = "", metadata }) => ({
      name,
      subject: metadata?.subject ?? "",
    }));
  },
  staleTime: 15_000,
});

/** The maximum number of transcripts that are shown. */
const transcriptsMax = 8;

/** Returns the items that match what was typed, in groups; groups without items are left out. */
export function usePaletteGroups(typed: string): readonly PaletteGroup[] {
  const t = useText();
  const { data: latest = [] } = useQuery(latestQuery);
  const { scopes } = useSession();
  const actions = useActions();
  const pages = pagesFor(scopes).map(({ to, text, letter }): PaletteItem => ({
    id: to,
    text: t(text),
    keys: letter === undefined ? undefined : `G ${letter.toUpperCase()}`,
    run: to,
  }));
  const transcripts = latest.map(({ name, subject }): PaletteItem => ({
    id: name,
    text: subject === "" ? t(texts.untitled) : subject,
    run: `/${name}`,
  }));
  const matching = (items: readonly PaletteItem[]) => bestMatches(typed, items, ({ text }) => text);
  const text = typed.trim();
  const search: PaletteItem = {
    id: "search-for",
    text: t(texts.searchFor)(text),
    run: `/transcripts${searchQuery({ ...everything, subject: text })}`,
  };
  const groups: PaletteGroup[] = [
    { kind: "actions", items: matching(actions) },
    { kind: "pages", items: matching(pages) },
    {
      kind: "transcripts",
      items: [...matching(transcripts).slice(0, transcriptsMax), ...(text === "" ? [] : [search])],
    },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

function useActions(): readonly PaletteItem[] {
  const t = useText();
  const { scopes } = useSession();
  const { language, setLanguage } = useLanguage();
  const themes = (["system", "light", "dark"] as const).map((theme): PaletteItem => ({
    id: `theme-${theme}`,
    text: t(texts.theme[theme]),
    run: () => showTheme(theme),
  }));
  const create: PaletteItem = { id: "new", text: t(texts.create), keys: "N", run: "new" };
  return [
    ...(scopes.includes("transcripts.write") ? [create] : []),
    { id: "search", text: t(texts.search), keys: "/", run: "search" },
    { id: "shortcuts", text: t(texts.shortcuts), keys: "?", run: "shortcuts" },
    ...themes,
    {
      id: "language",
      text: t(texts.otherLanguage),
      run: () => setLanguage(language === "is" ? "en" : "is"),
    },
  ];
}
