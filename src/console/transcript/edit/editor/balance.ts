import type { EditorState, Transaction } from "prosemirror-state";
import { paragraphsPerPart } from "../../playback-highlight.ts";

/** The number of paragraphs at which a part is divided, or joined to a neighbor. */
const partLimits = { min: 8, max: paragraphsPerPart * 2 };

/**
 * Divides parts that have grown too long, and joins those that have become short. The transaction
 * is not in the history. Returns undefined if all parts have a good length.
 */
export function balanceParts(state: EditorState): Transaction | undefined {
  const tr = state.tr.setMeta("addToHistory", false);
  // From the end, so that positions before a change stay valid.
  let end = state.doc.content.size;
  let next: number | undefined;
  for (const part of state.doc.children.toReversed()) {
    const pos = end - part.nodeSize;
    const count = part.childCount;
    if (count > partLimits.max) {
      let at = end - 1;
      for (let index = count - 1; index > 0; index--) {
        at -= part.child(index).nodeSize;
        if (index % paragraphsPerPart === 0) tr.split(at);
      }
      next = Math.min(count, paragraphsPerPart);
    } else if (
      next !== undefined &&
      Math.min(count, next) < partLimits.min &&
      count + next <= partLimits.max
    ) {
      tr.join(end);
      next += count;
    } else next = count;
    end = pos;
  }
  return tr.docChanged ? tr : undefined;
}
