import { useDeferredValue, useEffect, useMemo, useState } from "react";
import type { Editor } from "../editor/editor.ts";
import { finderOf, type Search } from "../model/find.ts";
import { finderInParagraphs, type Hit, hitsIn, keysAfter, replaceHits, showHit } from "./hits.ts";

/** The hits of a search in the edited text, and what can be done with them. */
export interface Find {
  readonly hits: readonly Hit[];
  /** The hits that are ticked, which are replaced together. */
  readonly ticked: readonly Hit[];
  /** The index of the hit that is shown; -1 if none is. */
  readonly at: number;
  readonly show: (hit: Hit) => void;
  /** Shows the next or the previous hit from the caret. */
  readonly go: (by: 1 | -1) => void;
  readonly tick: (hit: Hit, isTicked: boolean) => void;
  /** Replaces the hit that is shown, or shows the next one. */
  readonly replaceOne: (by: string) => void;
  /** Replaces the hits that are ticked, in one step. Returns their number. */
  readonly replaceTicked: (by: string) => number;
}

/** Where a hit is in the text. */
interface Shown {
  readonly index: number;
  readonly from: number;
}

const noKeys: ReadonlySet<string> = new Set();

/** Searches the edited text, again after each change, and paints the hits. */
export function useFind(editor: Editor, wanted: Search): Find {
  const [paragraphs, setParagraphs] = useState(() => editor.paragraphs());
  useEffect(() => editor.subscribe(() => setParagraphs(editor.paragraphs())), [editor]);
  const { text, isCaseExact, isWholeWords } = useDeferredValue(wanted);
  const finder = useMemo(() => {
    const finder = finderOf({ text, isCaseExact, isWholeWords });
    return finder && finderInParagraphs(finder);
  }, [text, isCaseExact, isWholeWords]);
  const hits = useMemo(() => (finder ? hitsIn(paragraphs, finder) : []), [paragraphs, finder]);
  const [left, setLeft] = useState<{ readonly of: typeof finder; readonly keys: typeof noKeys }>({
    of: undefined,
    keys: noKeys,
  });
  // Another search begins with all hits ticked.
  const leftOut = left.of === finder ? left.keys : noKeys;
  const ticked = useMemo(() => hits.filter(({ key }) => !leftOut.has(key)), [hits, leftOut]);
  const [shown, setShown] = useState<Shown>();
  const at = shown ? hits.findIndex((hit) => isAt(hit, shown)) : -1;
  const now = hits[at];
  useEffect(() => {
    const painted = finder && editor.paint({ name: "hlust-hit", rangesIn: finder });
    return () => painted?.[Symbol.dispose]();
  }, [editor, finder]);
  useEffect(() => {
    if (!now) return undefined;
    const rangesIn = (paragraph: Hit["paragraph"]) => (paragraph === now.paragraph ? [now] : []);
    const painted = editor.paint({ name: "hlust-hit-now", rangesIn });
    return () => painted[Symbol.dispose]();
  }, [editor, now]);
  const show = (hit: Hit): void => {
    setShown({ index: hit.index, from: hit.from });
    showHit(editor, hit);
  };
  const go = (by: 1 | -1): void => {
    const { paragraph: index, offset } = editor.caret();
    const caret = { index, from: offset };
    const next =
      by > 0
        ? (hits.find((hit) => isAfter(hit, caret) || (!now && isAt(hit, caret))) ?? hits[0])
        : (hits.findLast((hit) => isAfter(caret, hit)) ?? hits.at(-1));
    if (next) show(next);
  };
  return {
    hits,
    ticked,
    at,
    show,
    go,
    tick: (hit, isTicked) => {
      const keys = new Set(leftOut);
      if (isTicked) keys.delete(hit.key);
      else keys.add(hit.key);
      setLeft({ of: finder, keys });
    },
    replaceOne: (by) => {
      if (!now) {
        go(1);
        return;
      }
      replaceHits(editor, [now], by);
      const end = { index: now.index, from: now.from + by.normalize("NFC").length };
      const after = finder ? hitsIn(editor.paragraphs(), finder) : [];
      setLeft({ of: finder, keys: keysAfter(leftOut, now, { hits, after }) });
      const next = after.find((hit) => isAfter(hit, end) || isAt(hit, end)) ?? after[0];
      if (next) show(next);
    },
    replaceTicked: (by) => {
      replaceHits(editor, ticked, by);
      return ticked.length;
    },
  };
}

function isAt(one: Shown, other: Shown): boolean {
  return one.index === other.index && one.from === other.from;
}

function isAfter(one: Shown, other: Shown): boolean {
  return one.index > other.index || (one.index === other.index && one.from > other.from);
}
