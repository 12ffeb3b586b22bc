import { closeHistory, redo, undo } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { Plugin, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Base } from "../model/base.ts";
import {
  beginStep,
  deleteSelected,
  divide,
  type EditCommand,
  mergeBack,
  mergeForward,
  moveToEnd,
  selectAll,
  typeOverSelected,
} from "./commands.ts";
import { insertPlainText } from "./insert-text.ts";
import { inTexts, replaceByText, type TextRange } from "./replace-text.ts";

/** The keys of the editor that belong to the text itself. Other keys come from the page. */
export function editKeys(baseNow: () => Base): Plugin {
  const onBase =
    (command: (base: Base) => EditCommand): EditCommand =>
    (state, dispatch) =>
      command(baseNow())(state, dispatch);
  const back = firstOf(deleteSelected, onBase(mergeBack));
  const forward = firstOf(deleteSelected, onBase(mergeForward));
  const enter = onBase(divide);
  return keymap({
    Enter: enter,
    "Shift-Enter": enter,
    Backspace: back,
    "Shift-Backspace": back,
    "Mod-Backspace": back,
    "Alt-Backspace": back,
    Delete: forward,
    "Mod-Delete": forward,
    "Alt-Delete": forward,
    "Mod-a": selectAll,
    ...keysOfEnds("Mod-Home", "Mod-End"),
    ...keysOfEnds("Cmd-ArrowUp", "Cmd-ArrowDown"),
  });
}

function keysOfEnds(start: string, end: string): Record<string, EditCommand> {
  return {
    [start]: moveToEnd(-1),
    [end]: moveToEnd(1),
    [`Shift-${start}`]: moveToEnd(-1, { isExtended: true }),
    [`Shift-${end}`]: moveToEnd(1, { isExtended: true }),
  };
}

function firstOf(...commands: readonly EditCommand[]): EditCommand {
  return (state, dispatch) => commands.some((command) => command(state, dispatch));
}

/**
 * Takes over what browsers would do to the page on their own: pasting and dropping, which come in
 * as plain text, formats, their own undo, and changes that cover an edge of paragraphs.
 */
export function editInput(baseNow: () => Base): Plugin {
  return new Plugin({
    props: {
      handleTextInput(view, from, to, text) {
        const range = inTexts(view.state.doc, from, to);
        if (range.$from.before(2) === range.$to.before(2) && isInText(view, from, to)) return false;
        typeOver(view, range, text);
        return true;
      },
      handleDOMEvents: {
        keydown(view, event) {
          readSelection(view);
          // A dead key begins a composition, which browsers cannot do over an edge of paragraphs.
          const begins = event.key === "Dead" || event.key === "Process" || event.keyCode === 229;
          if (begins) deleteOverEdge(view);
          return false;
        },
        compositionstart(view) {
          deleteOverEdge(view);
          return false;
        },
        beforeinput: (view, event) => takeOver(view, event, baseNow()),
        copy(view, event) {
          readSelection(view);
          return writeClipboard(view, event);
        },
        cut(view, event) {
          readSelection(view);
          if (!writeClipboard(view, event)) return false;
          deleteSelected(view.state, view.dispatch);
          return true;
        },
        paste(view, event) {
          event.preventDefault();
          readSelection(view);
          insertPlainText(view, event.clipboardData?.getData("text/plain") ?? "", baseNow());
          return true;
        },
        drop: (view, event) => drop(view, event, baseNow()),
      },
    },
  });
}

function typeOver(view: EditorView, range: TextRange, text: string): void {
  const tr = closeHistory(view.state.tr);
  replaceByText(tr, range, text);
  tr.setSelection(TextSelection.create(tr.doc, range.$from.pos + text.length));
  view.dispatch(tr.scrollIntoView());
}

function isInText({ state: { doc } }: EditorView, from: number, to: number): boolean {
  return doc.resolve(from).depth === 2 && doc.resolve(to).depth === 2;
}

/**
 * Reads the selection from the page. Browsers report a new selection late, so that a key that is
 * pressed right after a click, or a choice of a menu, would otherwise work at the old place. This
 * holds within a composition, too, of which ProseMirror reads each change before the next key.
 */
export function readSelection(view: EditorView): void {
  const { anchorNode, anchorOffset, focusNode, focusOffset } =
    view.dom.ownerDocument.getSelection() ?? {};
  if (!anchorNode || !focusNode) return;
  if (!isInParagraph(view, anchorNode) || !isInParagraph(view, focusNode)) return;
  const anchor = view.posAtDOM(anchorNode, anchorOffset ?? 0);
  const head = view.posAtDOM(focusNode, focusOffset ?? 0);
  const { doc, selection, tr } = view.state;
  if (selection.anchor === anchor && selection.head === head) return;
  view.dispatch(tr.setSelection(TextSelection.between(doc.resolve(anchor), doc.resolve(head))));
}

function isInParagraph(view: EditorView, node: Node): boolean {
  const element = node instanceof Element ? node : node.parentElement;
  return view.dom.contains(node) && (element?.closest("p") ?? null) !== null;
}

/** Deletes the selection if it covers an edge of paragraphs. */
function deleteOverEdge(view: EditorView): void {
  readSelection(view);
  const { $from, $to, empty } = view.state.selection;
  if (empty || $from.sameParent($to)) return;
  typeOverSelected(view.state, view.dispatch);
}

function takeOver(view: EditorView, event: InputEvent, base: Base): boolean {
  const { inputType } = event;
  const run = (command: EditCommand): boolean => {
    event.preventDefault();
    command(view.state, view.dispatch);
    return true;
  };
  if (inputType === "historyUndo") return run(undo);
  if (inputType === "historyRedo") return run(redo);
  if (/^(format|insertLink|insertHorizontal|insert.*List)/.test(inputType)) return run(() => true);
  if (view.composing || event.isComposing) return false;
  if (inputType === "insertParagraph" || inputType === "insertLineBreak") return run(divide(base));
  if (/^insertFrom(Paste|Drop)/.test(inputType)) {
    event.preventDefault();
    const text = event.dataTransfer?.getData("text/plain") ?? event.data ?? "";
    insertPlainText(view, text, base);
    return true;
  }
  const inserted = inputType === "insertText" ? (event.data ?? "") : "";
  if (!inputType.startsWith("delete") && inserted === "") return false;
  const range = targetOf(view, event);
  if (!range || range.$from.sameParent(range.$to)) return false;
  // Such as an emoji that is chosen from a list: no key was pressed for it.
  if (inserted !== "") {
    event.preventDefault();
    typeOver(view, range, inserted);
    return true;
  }
  return run((state, dispatch) => {
    const tr = beginStep(state);
    const at = range.$from.pos + replaceByText(tr, range, "");
    dispatch?.(tr.setSelection(TextSelection.create(tr.doc, at)).scrollIntoView());
    return true;
  });
}

/** Returns the range that the browser is about to change. */
function targetOf(view: EditorView, event: InputEvent) {
  const [target] = event.getTargetRanges();
  if (
    !target ||
    !view.dom.contains(target.startContainer) ||
    !view.dom.contains(target.endContainer)
  )
    return undefined;
  const from = view.posAtDOM(target.startContainer, target.startOffset);
  const to = view.posAtDOM(target.endContainer, target.endOffset);
  return inTexts(view.state.doc, from, to);
}

/** Puts the selected text on the clipboard, one line for each paragraph. */
function writeClipboard(view: EditorView, event: ClipboardEvent): boolean {
  const { selection, doc } = view.state;
  if (selection.empty || !event.clipboardData) return false;
  event.preventDefault();
  event.clipboardData.clearData();
  event.clipboardData.setData("text/plain", doc.textBetween(selection.from, selection.to, "\n"));
  return true;
}

/** Moves or copies dropped text to the place where it was dropped. */
function drop(view: EditorView, event: DragEvent, base: Base): boolean {
  event.preventDefault();
  const { dragging } = view;
  view.dragging = null;
  const text = event.dataTransfer?.getData("text/plain") ?? "";
  const place = view.posAtCoords({ left: event.clientX, top: event.clientY });
  if (!place || text === "") return true;
  const { selection } = view.state;
  const isWithin = place.pos >= selection.from && place.pos <= selection.to;
  const moves = dragging?.move === true && !selection.empty;
  if (moves && isWithin) return true;
  const from = moves ? selection : undefined;
  insertPlainText(view, text, base, { at: place.pos, ...(from && { instead: from }) });
  view.focus();
  return true;
}
