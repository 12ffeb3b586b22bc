import type { Node } from "prosemirror-model";
import { Plugin } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { type Margin, paragraphViewOf } from "./node-views.ts";
import type { Base, EditedParagraph } from "../model/base.ts";
import type { Retimings } from "../model/retimings.ts";
import { runOf } from "./places.ts";
import { paragraphOf, retimingsOf, type Speakers, speakersOf } from "./schema.ts";

/** Writes the margin of a paragraph. `previous` is the paragraph above. */
export type WriteMargin = (
  paragraph: EditedParagraph,
  previous: EditedParagraph | undefined,
  text: { readonly base: Base; readonly speakers: Speakers; readonly retimings: Retimings },
) => Margin;

/**
 * Shows speakers and times in the margins. After a change, only parts that have changed, and the
 * paragraphs after them, are written again.
 */
export function margins(baseNow: () => Base, write: WriteMargin): Plugin {
  return new Plugin({
    view(view) {
      writeMargins(view, undefined, { base: baseNow(), write });
      return {
        update(view, before) {
          if (before.doc !== view.state.doc) {
            writeMargins(view, before.doc, { base: baseNow(), write });
          }
        },
      };
    },
  });
}

/** Writes all margins again, for example in another language. */
export function writeMargins(
  { dom, state: { doc } }: EditorView,
  before: Node | undefined,
  { base, write }: { readonly base: Base; readonly write: WriteMargin },
): void {
  const text = { base, speakers: speakersOf(doc), retimings: retimingsOf(doc) };
  const isAll = !before || speakersOf(before) !== text.speakers;
  const retimed = before ? retimedWords(retimingsOf(before), text.retimings) : [];
  const unchanged = new Set(isAll ? [] : before.children.filter((part) => !hasSome(part, retimed)));
  let previous: Node | undefined;
  let wasChanged = isAll;
  for (const [at, part] of doc.children.entries()) {
    const isChanged = isAll || !unchanged.has(part);
    // The first paragraph depends on the last one of the part above.
    const count = isChanged ? part.childCount : wasChanged ? 1 : 0;
    const elements = count > 0 ? dom.children[at]?.children : undefined;
    for (let index = 0; index < count; index++) {
      const node = part.child(index);
      const element = elements?.[index];
      const above = index > 0 ? part.child(index - 1) : previous;
      if (element) {
        paragraphViewOf(element)?.show(write(paragraphOf(node), above && paragraphOf(above), text));
      }
    }
    wasChanged = isChanged;
    previous = part.lastChild ?? previous;
  }
}

/** Returns the words whose times differ. */
function retimedWords(before: Retimings, after: Retimings): number[] {
  if (before === after) return [];
  const words = new Set([...before.keys(), ...after.keys()]);
  return [...words].filter((word) => before.get(word) !== after.get(word));
}

/** Whether some words are in the runs of a part. */
function hasSome({ firstChild, lastChild }: Node, words: readonly number[]): boolean {
  if (words.length === 0 || !firstChild || !lastChild) return false;
  const [from, to] = [runOf(firstChild).from, runOf(lastChild).to];
  return words.some((word) => word >= from && word < to);
}
