import type { Node } from "prosemirror-model";
import { Plugin, type Transaction } from "prosemirror-state";
import type { Base } from "../model/base.ts";
import { edgeAt } from "../model/divide.ts";
import { runOf } from "./places.ts";
import { setAttributes } from "./replace-text.ts";
import { attrsOf } from "./schema.ts";

/**
 * Keeps the runs of the paragraphs in order and without gaps. The commands do so on their own; this
 * repairs what a browser divides or joins, for example with the keyboard of a phone. Only parts
 * that have changed are read.
 */
export function keepRuns(baseNow: () => Base): Plugin {
  return new Plugin({
    appendTransaction(_transactions, before, after) {
      if (before.doc === after.doc) return null;
      const tr = after.tr;
      repairRuns(tr, baseNow(), new Set(before.doc.children));
      return tr.docChanged ? tr : null;
    },
  });
}

/** Repairs the runs in a transaction. `valid` are parts whose runs are in order. */
function repairRuns(tr: Transaction, base: Base, valid: ReadonlySet<Node>): void {
  const { doc } = tr;
  let previous: { readonly node: Node; readonly pos: number; readonly from: number } | undefined;
  let end = 0;
  let partPos = 0;
  for (const part of doc.children) {
    let pos = partPos + 1;
    const { firstChild, lastChild } = part;
    const isInOrder = valid.has(part) && firstChild && runOf(firstChild).from === end;
    if (isInOrder && lastChild) {
      const { from, to } = runOf(lastChild);
      previous = { node: lastChild, pos: pos + part.content.size - lastChild.nodeSize, from };
      end = to;
    } else {
      for (const node of part.children) {
        const run = runOf(node);
        if (run.from > end && previous) setAttributes(tr, previous.pos, { to: run.from });
        const isTwice =
          previous && run.from === previous.from && run.to === end && run.to > run.from;
        const edge = isTwice && previous ? edgeBetween(base, previous.node, node) : undefined;
        if (edge !== undefined && previous) setAttributes(tr, previous.pos, { to: edge });
        const from = edge ?? (previous && run.from > end ? run.from : end);
        const to = Math.max(from, run.to);
        setAttributes(tr, pos, { from, to });
        if (run.from < 0 && previous)
          setAttributes(tr, pos, { speaker: attrsOf(previous.node).speaker });
        previous = { node, pos, from };
        end = to;
        pos += node.nodeSize;
      }
    }
    partPos += part.nodeSize;
  }
  if (previous && end < base.words.length)
    setAttributes(tr, previous.pos, { to: base.words.length });
}

/** Returns the edge of the sound between two halves of a paragraph, which have the same run. */
function edgeBetween(base: Base, first: Node, second: Node): number {
  const text = first.textContent;
  return edgeAt(base, { ...attrsOf(first), text: text + second.textContent }, text.length);
}
