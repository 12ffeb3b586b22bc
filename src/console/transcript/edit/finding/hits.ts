import type { Editor } from "../editor/editor.ts";
import { showPlace } from "../editor/show-place.ts";
import type { EditedParagraph } from "../model/base.ts";
import { type Finder, type Found, withHitsReplaced } from "../model/find.ts";
import { sentenceStart } from "../playing/sentence.ts";

/** A place in the edited text where something was found. */
export interface Hit extends Found {
  /** The index of the paragraph. */
  readonly index: number;
  readonly paragraph: EditedParagraph;
  /** Names the hit as long as those before it in its paragraph stay. */
  readonly key: string;
}

/** Returns a finder that searches a paragraph again only when it has changed. */
export function finderInParagraphs(finder: Finder): (one: EditedParagraph) => readonly Found[] {
  const known = new WeakMap<EditedParagraph, readonly Found[]>();
  return (paragraph) => {
    const found = known.get(paragraph) ?? finder(paragraph.text);
    known.set(paragraph, found);
    return found;
  };
}

/** Returns all hits in the text, in order. */
export function hitsIn(
  paragraphs: readonly EditedParagraph[],
  finder: (one: EditedParagraph) => readonly Found[],
): Hit[] {
  return paragraphs.flatMap((paragraph, index) =>
    finder(paragraph).map((found, at) => ({
      ...found,
      index,
      paragraph,
      key: keyOf(paragraph, at),
    })),
  );
}

/** Runs stay where they are while the text of their paragraph changes. */
function keyOf({ from, to }: EditedParagraph, at: number): string {
  return `${from}-${to}-${at}`;
}

/**
 * Returns the keys after a hit was replaced, which moves later hits of its paragraph. `hits` are
 * the ones before the replacement, and `after` the ones after it.
 */
export function keysAfter(
  keys: ReadonlySet<string>,
  replaced: Hit,
  { hits, after }: { readonly hits: readonly Hit[]; readonly after: readonly Hit[] },
): ReadonlySet<string> {
  const isSame = ({ index }: Hit): boolean => index === replaced.index;
  const [old, fresh] = [hits.filter(isSame), after.filter(isSame)];
  const at = old.indexOf(replaced);
  const later = old.slice(at + 1);
  const moved = later.flatMap(({ key }, place) => {
    const now = fresh[fresh.length - later.length + place];
    return now && keys.has(key) ? [now.key] : [];
  });
  const gone = new Set(old.slice(at).map(({ key }) => key));
  return new Set([...[...keys].filter((key) => !gone.has(key)), ...moved]);
}

/** Replaces hits in one step of the history. They are in order. */
export function replaceHits(editor: Editor, hits: readonly Hit[], by: string): void {
  const text = by.normalize("NFC");
  const byIndex = Map.groupBy(hits, ({ index }) => index);
  editor.replaceParagraphs(
    [...byIndex].flatMap(([index, found]) => {
      const paragraph = found[0]?.paragraph;
      if (!paragraph) return [];
      const changed = withHitsReplaced(paragraph, found, text);
      return [{ start: index, end: index + 1, paragraphs: [changed] }];
    }),
  );
}

/** The maximum number of characters that are shown before and after a hit. */
const aroundMax = 60;

/** Returns the sentence of a hit in three parts: before it, the hit, and after it. */
export function sentenceOf({
  paragraph: { text },
  from,
  to,
}: Hit): readonly [string, string, string] {
  const start = Math.max(sentenceStart(text, from), from - aroundMax);
  const end = /[.?!…]["“”»')]*(?=\s)/g;
  end.lastIndex = to;
  const found = end.exec(text);
  const stop = Math.min(found ? found.index + found[0].length : text.length, to + aroundMax);
  return [
    (start > sentenceStart(text, from) ? "…" : "") + text.slice(start, from),
    text.slice(from, to),
    text.slice(to, stop) + (stop === to + aroundMax ? "…" : ""),
  ];
}

/** Places the caret at a hit, and scrolls it into the middle of the screen if it is not in view. */
export function showHit(editor: Editor, { index, from }: Hit): void {
  showPlace(editor, { paragraph: index, offset: from });
}
