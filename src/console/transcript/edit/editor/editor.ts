import { closeHistory, history } from "prosemirror-history";
import { EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { paragraphsPerPart } from "../../playback-highlight.ts";
import type { SpokenText } from "../../spoken-text.ts";
import type { Base, EditedParagraph } from "../model/base.ts";
import type { Replacement } from "../model/replacements.ts";
import type { TimedText } from "../model/retime.ts";
import { type Retimings, withoutOwn } from "../model/retimings.ts";
import { changeBetween, type TextChange } from "./changes.ts";
import { type EditCommand, isContinued, isOwnStep } from "./commands.ts";
import { Covered } from "./covered.ts";
import { hideFromReact } from "./hide-from-react.ts";
import { HistoryBound } from "./history-bound.ts";
import { editInput, editKeys } from "./input.ts";
import { LaterBalance } from "./later-balance.ts";
import { MarginPresses } from "./margin-presses.ts";
import { Margins, type WriteMargin } from "./margins.ts";
import { ParagraphView, PartView } from "./node-views.ts";
import { type Painted, Painter, type Painting } from "./painting.ts";
import { type Caret, caretAt, positionOf } from "./places.ts";
import { mergeStep } from "./merge-step.ts";
import { replaceParagraphs } from "./replace-paragraphs.ts";
import { inTexts } from "./replace-text.ts";
import { keepRuns } from "./runs.ts";
import { holdScroll } from "./hold-scroll.ts";
import {
  documentOf,
  numberingOf,
  paragraphsOf,
  retimingsOf,
  type Speakers,
  speakersOf,
} from "./schema.ts";
import { SpokenPlaces } from "./spoken-places.ts";
import { type JoinedSpeakers, keepSpeakers, TheirSpeakers } from "./their-speakers.ts";
import { VisibleParts } from "./visible-parts.ts";

/** The maximum number of steps that can be undone. */
const undoStepsMax = 1_000;

/** What an editor begins with. */
export interface EditorOptions {
  /** The element that becomes the text. React renders nothing in it. */
  readonly mount: HTMLElement;
  /** The version that was opened, and its text as it is read. */
  readonly base: Base;
  readonly text: SpokenText;
  /** The paragraphs at first: those of the base, or of a draft. */
  readonly paragraphs: readonly EditedParagraph[];
  readonly speakers: Speakers;
  /** The times that were set for words of the base. */
  readonly retimings: Retimings;
  /** The attributes of the text: its language, its accessible name, and so on. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly writeMargin: WriteMargin;
  /** Receives the index of a paragraph whose time is pressed in the margin. */
  readonly onTimePress: (index: number) => void;
  /** Receives the time of a word that was clicked with Ctrl or the command key. */
  readonly onSeek: (seconds: number) => void;
  /** The heights of the parts in pixels until they are laid out, by index. */
  readonly partHeights?: readonly number[];
  /** The index of the paragraph that is shown first; 0 by default. */
  readonly firstParagraph?: number;
}

/** A version of others, as it comes into the text. */
export interface Joined {
  /** The version, and its text as it is read. */
  readonly base: Base;
  readonly text: SpokenText;
  /** For each edge between words of the base until now, its number in the version. */
  readonly edges: Int32Array;
  /** What changes in the paragraphs. */
  readonly replacements: readonly Replacement[];
  readonly speakers: JoinedSpeakers;
  /** The times that were set for words of the version. */
  readonly retimings: Retimings;
}

/** Receives a key before the text does. Returns whether it has used the key. */
export type KeyListener = (event: KeyboardEvent) => boolean;

/**
 * The editor of a transcript's text. It knows the opened version, the current paragraphs, and the
 * history; it does not save, and it does not play.
 */
export class Editor {
  /** The times of places in the text, and the places of times. */
  readonly places: SpokenPlaces;
  readonly view: EditorView;
  readonly #visible = new VisibleParts();
  readonly #painter: Painter;
  readonly #margins: Margins;
  readonly #listeners = new Set<(change: TextChange) => void>();
  readonly #keyListeners = new Set<KeyListener>();
  readonly #theirs = new TheirSpeakers();
  readonly #covered = new Covered();
  readonly #history = history({ depth: undoStepsMax });
  readonly #bound = new HistoryBound(this.#history);
  readonly #heights: (number | undefined)[];
  readonly #presses: MarginPresses;
  readonly #balance: LaterBalance;
  #attributes: Readonly<Record<string, string>>;
  #base: Base;
  #closesStep = false;
  #retimed: { readonly base: Base; readonly set: Retimings; readonly other: Retimings } | undefined;

  constructor(options: EditorOptions) {
    const { mount, base, text, attributes, writeMargin } = options;
    this.#base = base;
    this.places = new SpokenPlaces(base, text);
    this.#attributes = attributes;
    const firstPart = Math.floor((options.firstParagraph ?? 0) / paragraphsPerPart);
    this.#margins = new Margins(this.#visible, {
      baseNow: () => this.#base,
      write: writeMargin,
      firstPart,
    });
    this.#heights = [...(options.partHeights ?? [])];
    this.view = new EditorView(
      { mount },
      {
        state: EditorState.create({
          doc: documentOf(options.paragraphs, options.speakers, options.retimings),
          plugins: [
            editInput(() => this.#base),
            editKeys(() => this.#base),
            this.#history,
            keepRuns(() => this.#base),
            keepSpeakers(this.#theirs),
            this.#margins.plugin(),
          ],
        }),
        attributes,
        scrollThreshold: this.#covered.px,
        scrollMargin: this.#covered.px,
        nodeViews: {
          paragraph: (node) => new ParagraphView(node),
          part: () => new PartView(this.#heights.shift(), this.#visible),
        },
        handleClick: (view, pos, event) => {
          if (!event.ctrlKey && !event.metaKey) return false;
          const { doc } = view.state;
          const { $from } = inTexts(doc, pos, pos);
          options.onSeek(this.places.timeAt(doc, caretAt($from)));
          return true;
        },
        handleKeyDown: (view, event) => !view.composing && this.#handleKey(event),
        dispatchTransaction: (tr) => this.#apply(tr),
      },
    );
    hideFromReact(this.view.dom);
    this.#painter = new Painter(this.view, this.#visible);
    this.#presses = new MarginPresses(this.view, mount, options.onTimePress);
    this.#balance = new LaterBalance(this.view);
  }

  /** The version to which the edits are relative: the one that was opened, or merged last. */
  get base(): Base {
    return this.#base;
  }

  /** The parts of the screen, in pixels, that the bar over the text and the player cover. */
  get coveredPx(): { readonly top: number; readonly bottom: number } {
    return this.#covered.px;
  }

  /** Notes the height of the bar over the text. The line of the caret stays in view. */
  setBarHeight(px: number): void {
    this.#covered.setBar(this.view, px);
  }

  get state(): EditorState {
    return this.view.state;
  }

  /** Runs a command. Returns whether it applies. */
  run(command: EditCommand): boolean {
    return command(this.view.state, this.view.dispatch);
  }

  dispatch(tr: Transaction): void {
    this.view.dispatch(tr);
  }

  /** Calls a listener after each change. Returns a function that removes it. */
  subscribe(listener: (change: TextChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Passes keys to a listener before the text receives them, except while characters are composed.
   * The listener that was added last is asked first. Returns a function that removes it.
   */
  addKeys(listener: KeyListener): () => void {
    this.#keyListeners.add(listener);
    return () => this.#keyListeners.delete(listener);
  }

  /**
   * Calls a listener with the index of the paragraph when its speaker is pressed in the margin.
   * Returns a function that removes it.
   */
  addSpeakerPress(listener: (index: number) => void): () => void {
    return this.#presses.addSpeakerListener(listener);
  }

  /** Returns the current paragraphs. Those that have not changed are the same objects as before. */
  paragraphs(): readonly EditedParagraph[] {
    return paragraphsOf(this.view.state.doc);
  }

  speakers(): Speakers {
    return speakersOf(this.view.state.doc);
  }

  /** Returns the times that were set for words of the base and differ from its own. */
  retimings(): Retimings {
    const set = retimingsOf(this.view.state.doc);
    if (this.#retimed?.base !== this.#base || this.#retimed.set !== set) {
      this.#retimed = { base: this.#base, set, other: withoutOwn(this.#base, set) };
    }
    return this.#retimed.other;
  }

  /** Returns the text with the times of its words, which are only computed when they are read. */
  timedText(): TimedText {
    const { doc } = this.view.state;
    const wordsOf = (paragraph: EditedParagraph) => this.places.wordsOf(doc, paragraph);
    return { base: this.base, paragraphs: paragraphsOf(doc), wordsOf };
  }

  /**
   * Replaces paragraphs in one step, which can be undone unless `addToHistory` is false. Caret,
   * selection and earlier steps of the history keep their places.
   */
  replaceParagraphs(
    replacements: readonly Replacement[],
    { addToHistory = true }: { readonly addToHistory?: boolean } = {},
  ): void {
    const tr = replaceParagraphs(this.view.state, replacements);
    if (!addToHistory) tr.setMeta("addToHistory", false);
    this.view.dispatch(tr);
  }

  /**
   * Brings the changes of others into the text, and makes their version the base. Caret and
   * selection stay, as do the steps of the history, which are those of this user.
   */
  join({ base, text, edges, replacements, speakers, retimings }: Joined): void {
    const { doc } = this.view.state;
    this.#base = base;
    this.places.rebase(base, text);
    numberingOf(doc).move(edges);
    this.#painter.forget();
    this.#theirs.join(speakers);
    const tr = mergeStep(this.view.state, replacements);
    if (speakersOf(doc) !== speakers.merged) tr.setDocAttribute("speakers", speakers.merged);
    if (retimingsOf(doc) !== retimings) tr.setDocAttribute("retimings", retimings);
    const hold = holdScroll(this.view, this.#visible.elements);
    this.view.dispatch(tr);
    // Other speakers have the margins written, too.
    if (speakersOf(doc) === speakers.merged) this.#margins.writeAll();
    hold(tr.mapping);
  }

  caret(): Caret {
    return caretAt(this.view.state.selection.$head);
  }

  /** Places the caret, and brings it into view if `isShown` is set. */
  setCaret(caret: Caret, { isShown = true }: { readonly isShown?: boolean } = {}): void {
    const { doc, tr } = this.view.state;
    tr.setSelection(TextSelection.create(doc, positionOf(doc, caret)));
    this.view.dispatch(isShown ? tr.scrollIntoView() : tr);
  }

  /** Returns the time of the caret in seconds. */
  caretTime(): number {
    return this.places.timeAt(this.view.state.doc, this.caret());
  }

  /** Paints ranges of the visible text, without changing it. */
  paint(painting: Painting): Painted {
    return this.#painter.show(painting);
  }

  /** Changes an attribute of the text, for example to turn the spelling checker off. */
  setAttribute(name: string, value: string): void {
    this.#attributes = { ...this.#attributes, [name]: value };
    this.view.setProps({ attributes: this.#attributes });
  }

  /** Writes the margins in another way, for example in another language. */
  setMargins(write: WriteMargin): void {
    this.#margins.setWrite(write);
  }

  [Symbol.dispose](): void {
    this.#balance[Symbol.dispose]();
    this.#presses[Symbol.dispose]();
    this.#painter[Symbol.dispose]();
    this.#margins[Symbol.dispose]();
    this.view.destroy();
    this.#visible[Symbol.dispose]();
  }

  #handleKey(event: KeyboardEvent): boolean {
    return [...this.#keyListeners].toReversed().some((listener) => listener(event));
  }

  #apply(tr: Transaction): void {
    const before = this.view.state.doc;
    if (this.#closesStep && tr.docChanged && !isContinued(tr)) closeHistory(tr);
    const { state, transactions } = this.view.state.applyTransaction(tr);
    this.view.updateState(this.#bound.bounded(state, tr));
    if (!transactions.some(({ docChanged }) => docChanged)) return;
    this.#closesStep = transactions.some(isOwnStep);
    this.#painter.changed();
    this.#balance.start();
    if (this.#listeners.size === 0) return;
    const change = changeBetween(before, state.doc);
    for (const listener of this.#listeners) listener(change);
  }
}
