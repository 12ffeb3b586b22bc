import type { Node } from "prosemirror-model";

/** A range of paragraphs that have changed. */
export interface TextChange {
  /** The index of the first paragraph that has changed. */
  readonly start: number;
  /** The number of paragraphs that were there before. */
  readonly removed: number;
  /** The number of paragraphs that are there now. */
  readonly inserted: number;
  /** Whether the speakers' names have changed. */
  readonly hasOtherSpeakers: boolean;
}

/** Compares two documents by identity: nodes that have not changed are the same objects. */
export function changeBetween(before: Node, after: Node): TextChange {
  const old = paragraphsIn(before, after);
  const fresh = paragraphsIn(after, before);
  const length = Math.min(old.nodes.length, fresh.nodes.length);
  let head = 0;
  while (head < length && old.nodes[head] === fresh.nodes[head]) head++;
  let tail = 0;
  while (tail < length - head && old.nodes.at(-1 - tail) === fresh.nodes.at(-1 - tail)) tail++;
  return {
    start: old.first + head,
    removed: old.nodes.length - head - tail,
    inserted: fresh.nodes.length - head - tail,
    hasOtherSpeakers: before.attrs["speakers"] !== after.attrs["speakers"],
  };
}

/** Returns the paragraphs of the parts that differ, and the index of the first of them. */
function paragraphsIn(doc: Node, other: Node): { readonly nodes: Node[]; readonly first: number } {
  const parts = doc.children;
  const others = other.children;
  const length = Math.min(parts.length, others.length);
  let head = 0;
  while (head < length && parts[head] === others[head]) head++;
  let tail = 0;
  while (tail < length - head && parts.at(-1 - tail) === others.at(-1 - tail)) tail++;
  return {
    nodes: parts.slice(head, parts.length - tail).flatMap((part) => part.children),
    first: parts.slice(0, head).reduce((sum, { childCount }) => sum + childCount, 0),
  };
}
