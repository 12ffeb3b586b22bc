import { pageLetters, isPageLetter, type PageLetter } from "../frame/page-letters.ts";
import { mayOpen } from "../frame/page-scopes.ts";
import { binText } from "../text/bin.ts";
import { commonText } from "../text/common.ts";
import { importText } from "../text/import.ts";
import type { Phrase } from "../text/language.tsx";
import { programsText } from "../text/programs.ts";

/** A page, with the letter after G that opens it. */
export interface ListedPage {
  readonly to: `/${string}`;
  readonly text: Phrase<string>;
  readonly letter: PageLetter | undefined;
}

const pages: readonly Omit<ListedPage, "letter">[] = [
  { to: "/", text: commonText.overview },
  { to: "/transcripts", text: commonText.transcripts },
  { to: "/jobs", text: commonText.jobs },
  { to: "/import", text: importText.title },
  { to: "/bin", text: binText.bin },
  { to: "/live", text: commonText.live },
  { to: "/vocabulary", text: commonText.vocabulary },
  { to: "/keys", text: commonText.keys },
  { to: "/webhooks", text: commonText.webhooks },
  { to: "/usage", text: commonText.usage },
  { to: "/programs", text: programsText.title },
  { to: "/account", text: commonText.account },
  { to: "/account/settings", text: commonText.accountSettings },
  { to: "/operator", text: commonText.operation },
  { to: "/help", text: commonText.help },
  { to: "/docs", text: commonText.apiReference },
];

/** Returns the pages for a user with these scopes. */
export function pagesFor(scopes: readonly string[]): ListedPage[] {
  const letters = new Map<string, PageLetter>(
    Object.entries(pageLetters).flatMap(([letter, to]): [string, PageLetter][] =>
      isPageLetter(letter) ? [[to, letter]] : [],
    ),
  );
  return pages
    .filter(({ to }) => mayOpen(to, scopes))
    .map(({ to, text }) => ({ to, text, letter: letters.get(to) }));
}
