import { Fragment, type Mark, type Node, Schema } from "prosemirror-model";
import type { SpeakerInfoJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { EditedParagraph } from "../model/base.ts";
import type { Pin } from "../model/pin.ts";
import { withPins } from "../model/pins.ts";
import { noRetimings, type Retimings, type WordTimes } from "../model/retimings.ts";
import { paragraphsPerPart } from "../../playback-highlight.ts";
import { Edge, numberOf, Numbering } from "./numbering.ts";

/** The speakers of a transcript by id, as in its metadata. */
export type Speakers = Readonly<Record<string, SpeakerInfoJson>>;

/**
 * The text as a tree of two levels and text. Parts are layout, not meaning: the browser lays out
 * and paints only the parts that are in view. The speakers, and the times that were set for words
 * of the base, are attributes of the document, so that changes of them can be undone. The only
 * marks are pins: the times that were set for words that were typed.
 */
export const schema = new Schema({
  nodes: {
    doc: {
      content: "part+",
      attrs: {
        speakers: { default: {} },
        retimings: { default: noRetimings },
        numbering: { default: null },
      },
    },
    part: {
      content: "paragraph+",
      selectable: false,
      toDOM: () => ["div", { class: "words-part" }, 0],
    },
    paragraph: {
      content: "text*",
      whitespace: "pre",
      selectable: false,
      attrs: {
        speaker: { default: "" },
        // Edges (numbering.ts); null in paragraphs that a browser has made.
        from: { default: null },
        to: { default: null },
        isSoft: { default: false },
      },
      // A browser may add paragraphs on its own, for example on phones.
      parseDOM: [{ tag: "p" }],
      toDOM: () => ["p", 0],
    },
    text: {},
  },
  marks: {
    // What is typed next to a word does not get its times.
    pin: {
      attrs: { startTime: {}, endTime: {} },
      inclusive: false,
      toDOM: () => ["span", 0],
    },
  },
});

/** Returns the mark of times that were set for a word that was typed. */
export function markOf({ startTime, endTime }: WordTimes): Mark {
  return schema.marks.pin.create({ startTime, endTime });
}

function pinsOf(node: Node): Pin[] {
  let from = 0;
  return node.children.flatMap(({ marks: [mark], nodeSize }) => {
    const to = from + nodeSize;
    const { startTime, endTime } = mark?.attrs ?? {};
    const pin = mark && { from, to, startTime: String(startTime), endTime: String(endTime) };
    from = to;
    return pin ? [pin] : [];
  });
}

function contentOf(text: string, pins: readonly Pin[] = []): Node[] {
  const nodes: Node[] = [];
  let end = 0;
  const add = (to: number, marks: readonly Mark[]): void => {
    if (end < to) nodes.push(schema.text(text.slice(end, to), marks));
    end = to;
  };
  for (const pin of pins) {
    add(pin.from, []);
    add(pin.to, [markOf(pin)]);
  }
  add(text.length, []);
  return nodes;
}

/** Creates the document of a text. */
export function documentOf(
  paragraphs: readonly EditedParagraph[],
  speakers: Speakers,
  retimings: Retimings = noRetimings,
): Node {
  const some = paragraphs.length === 0 ? [emptyParagraph] : paragraphs;
  const numbering = new Numbering();
  const nodes = some.map((value) => {
    const node = nodeOf(value, numbering);
    known.set(node, { epoch: numbering.epoch, value });
    return node;
  });
  return schema.node("doc", { speakers, retimings, numbering }, partsOf(nodes));
}

/** Returns the numbering of the edges in a document. */
export function numberingOf({ attrs }: Node): Numbering {
  const { numbering } = attrs;
  if (!(numbering instanceof Numbering)) throw new TypeError("the document has no numbering");
  return numbering;
}

const emptyParagraph: EditedParagraph = { text: "", speaker: "", from: 0, to: 0, isSoft: false };

/** Groups paragraphs in parts. */
export function partsOf(paragraphs: readonly Node[]): Fragment {
  return Fragment.from(
    Array.from({ length: Math.ceil(paragraphs.length / paragraphsPerPart) }, (_, at) =>
      schema.nodes.part.create(
        null,
        paragraphs.slice(at * paragraphsPerPart, (at + 1) * paragraphsPerPart),
      ),
    ),
  );
}

export function nodeOf(
  { text, from, to, speaker, isSoft, pins }: EditedParagraph,
  numbering: Numbering,
): Node {
  const edges = { from: numbering.edge(from), to: numbering.edge(to) };
  // create() does not check the content, unlike schema.node().
  return schema.nodes.paragraph.create({ speaker, isSoft, ...edges }, contentOf(text, pins));
}

const known = new WeakMap<Node, Known<EditedParagraph>>();

/** What was read from a node, while the base had this epoch. */
interface Known<Value> {
  readonly epoch: number;
  readonly value: Value;
}

/** Returns the paragraph of a node: the same object for the same node on the same base. */
export function paragraphOf(node: Node): EditedParagraph {
  const epoch = epochOf(node);
  const before = known.get(node);
  if (before?.epoch === epoch) return before.value;
  const run = attrsOf(node);
  const { from, to } = before?.value ?? {};
  const isSame = before && from === run.from && to === run.to;
  const value = isSame
    ? before.value
    : withPins({ text: before?.value.text ?? node.textContent, ...run }, pinsOf(node));
  known.set(node, { epoch, value });
  return value;
}

function epochOf({ attrs: { from, to } }: Node): number {
  const edge: unknown = from ?? to;
  return edge instanceof Edge ? edge.numbering.epoch : 0;
}

/** Returns the attributes of a paragraph's node. */
export function attrsOf({ attrs }: Node): Omit<EditedParagraph, "text" | "pins"> {
  return {
    speaker: String(attrs["speaker"]),
    from: numberOf(attrs["from"]),
    to: numberOf(attrs["to"]),
    isSoft: attrs["isSoft"] === true,
  };
}

const knownLists = new WeakMap<Node, Known<readonly EditedParagraph[]>>();

/**
 * Returns all paragraphs of a document, in order: the same list for the same document on the same
 * base. Only the parts that have changed are read again.
 */
export function paragraphsOf(doc: Node): readonly EditedParagraph[] {
  const { epoch } = numberingOf(doc);
  return knownList(doc, epoch, () =>
    doc.children.flatMap((part) => knownList(part, epoch, () => part.children.map(paragraphOf))),
  );
}

function knownList(
  node: Node,
  epoch: number,
  read: () => readonly EditedParagraph[],
): readonly EditedParagraph[] {
  const before = knownLists.get(node);
  if (before?.epoch === epoch) return before.value;
  const value = read();
  knownLists.set(node, { epoch, value });
  return value;
}

/** Returns the speakers of a document. */
export function speakersOf(doc: Node): Speakers {
  const speakers: Speakers = doc.attrs["speakers"];
  return speakers;
}

/** Returns the times that were set for words, some perhaps to the base's own times again. */
export function retimingsOf(doc: Node): Retimings {
  const retimings: Retimings = doc.attrs["retimings"];
  return retimings;
}
