import type { Node } from "prosemirror-model";
import { Step, StepResult } from "prosemirror-transform";
import type { WordTimes } from "../model/retimings.ts";
import type { Edge } from "./numbering.ts";
import { retimingsOf } from "./schema.ts";

/**
 * Sets the times of one word of the base, which is the one after an edge. It has both the times
 * before and the times after, even where those are the base's own, so that it can be undone when
 * the text was saved in between.
 */
export class RetimeStep extends Step {
  readonly word: Edge;
  readonly before: WordTimes;
  readonly after: WordTimes;

  constructor(word: Edge, before: WordTimes, after: WordTimes) {
    super();
    this.word = word;
    this.before = before;
    this.after = after;
  }

  override apply(doc: Node): StepResult {
    const { numbering, epoch, index, now } = this.word;
    // The word may not be in a version of others that has become the base.
    if (numbering.now(epoch, index + 1) !== now + 1) return StepResult.ok(doc);
    const retimings = new Map(retimingsOf(doc)).set(now, this.after);
    return StepResult.ok(doc.type.create({ ...doc.attrs, retimings }, doc.content, doc.marks));
  }

  override invert(): RetimeStep {
    return new RetimeStep(this.word, this.after, this.before);
  }

  override map(): RetimeStep {
    return this;
  }

  override toJSON(): unknown {
    const { word, before, after } = this;
    return { stepType: "hlust.retime", word: word.now, before, after };
  }
}
