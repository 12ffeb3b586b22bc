import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { PageCommand } from "../frame/page-letters.ts";
import { DialogBox } from "../parts/dialog-box.tsx";
import { commandsText as texts } from "../text/commands.ts";
import { useText } from "../text/language.tsx";
import { type PaletteGroup, type PaletteItem, usePaletteGroups } from "./palette-items.ts";
import "../parts/fields.css";
import "./palette.css";

/**
 * The command palette: pages, actions and the latest transcripts, found by what is typed. The field
 * is a combobox (WAI-ARIA): it keeps the focus, and the arrow keys move through the list.
 */
export function Palette({
  onRun,
  onClose,
}: {
  readonly onRun: (command: PageCommand) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const id = useId();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const groups = usePaletteGroups(typed);
  const items = groups.flatMap((group) => group.items);
  const chosen = Math.min(at, items.length - 1);
  const activeId = items.length === 0 ? undefined : `${id}-${chosen}`;
  const run = (item: PaletteItem | undefined): void => {
    if (!item) return;
    onClose();
    // The dialog first returns the focus, which the command may move.
    const { run } = item;
    afterFrames(() => (typeof run === "function" ? run() : onRun(run)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      const by = key === "ArrowDown" ? 1 : -1;
      if (items.length > 0) setAt((chosen + by + items.length) % items.length);
    } else if (key === "Enter") {
      event.preventDefault();
      run(items[chosen]);
    }
  };
  return (
    <DialogBox title={t(texts.title)} isOpen onClose={onClose} isDismissable>
      <div>
        <input
          className="input"
          role="combobox"
          aria-label={t(texts.field)}
          aria-expanded={items.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={activeId}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          dir="auto"
          maxLength={200}
          placeholder={t(texts.field)}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog is opened to type
          autoFocus
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <Results id={id} groups={groups} chosen={chosen} onPoint={setAt} onRun={run} />
        <output className="unseen">{t(texts.count)(items.length)}</output>
        {items.length === 0 && <p className="quiet">{t(texts.none)}</p>}
      </div>
    </DialogBox>
  );
}

function Results({
  id,
  groups,
  chosen,
  onPoint,
  onRun,
}: {
  readonly id: string;
  readonly groups: readonly PaletteGroup[];
  readonly chosen: number;
  readonly onPoint: (index: number) => void;
  readonly onRun: (item: PaletteItem) => void;
}) {
  const t = useText();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });
  const starts = groups.map((_, at) =>
    groups.slice(0, at).reduce((sum, { items }) => sum + items.length, 0),
  );
  /* oxlint-disable jsx-a11y/prefer-tag-over-role -- no tag shows the list of a combobox in groups */
  return (
    <div
      ref={list}
      className="palette-results"
      role="listbox"
      id={`${id}-list`}
      aria-label={t(texts.results)}
    >
      {groups.map(({ kind, items }, group) => (
        <div key={kind} role="group" aria-labelledby={`${id}-${kind}`}>
          <div id={`${id}-${kind}`} className="palette-group-title" role="presentation">
            {t(texts.groups[kind])}
          </div>
          {items.map((item, index) => {
            const at = (starts[group] ?? 0) + index;
            return (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field has the focus and the keys
              <div
                key={item.id}
                id={`${id}-${at}`}
                className="palette-option"
                role="option"
                aria-selected={at === chosen}
                onPointerMove={() => onPoint(at)}
                onClick={() => onRun(item)}
              >
                <span dir="auto">{item.text}</span>
                {item.keys !== undefined && <kbd aria-hidden="true">{item.keys}</kbd>}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
  /* oxlint-enable jsx-a11y/prefer-tag-over-role */
}

/** Calls a function once a closed dialog has returned the focus, in the frame after the next. */
function afterFrames(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
