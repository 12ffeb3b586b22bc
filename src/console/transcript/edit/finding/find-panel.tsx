import { type RefObject, useEffect, useRef, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { useAnnounce } from "../../../parts/announcer.tsx";
import { TextInput } from "../../../parts/text-input.tsx";
import { commonText } from "../../../text/common.ts";
import { findingText as texts } from "../../../text/edit-finding.ts";
import { useText } from "../../../text/language.tsx";
import type { Playback } from "../../playback.ts";
import type { Editor } from "../editor/editor.ts";
import type { Commands } from "../keys/commands.ts";
import type { Search } from "../model/find.ts";
import { FindHits } from "./find-hits.tsx";
import { type Find, useFind } from "./use-find.ts";
import "./find-panel.css";

/** A field of the panel. */
export type FindField = "find" | "replace";

/** Finds and replaces in the whole text. It does not cover the text on wide screens. */
export function FindPanel({
  editor,
  playback,
  commands,
  open,
  wanted,
  onChange,
  onClose,
}: {
  readonly editor: Editor;
  readonly playback: Playback | undefined;
  readonly commands: Commands;
  /** The field that receives the focus; another object gives it the focus again. */
  readonly open: { readonly field: FindField };
  readonly wanted: Search;
  readonly onChange: (wanted: Search) => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const root = useRef<HTMLElement>(null);
  const find = useFind(editor, wanted);
  useEffect(() => {
    const input = root.current?.querySelector<HTMLInputElement>(`[name=${open.field}]`);
    input?.focus();
    input?.select();
  }, [open]);
  usePanelKeys(root, commands, { onClose, onPrevious: () => find.go(-1) });
  return (
    <section className="find-panel" data-region="find" aria-label={t(texts.title)} ref={root}>
      <FindForm find={find} wanted={wanted} onChange={onChange} />
      <ReplaceForm find={find} />
      <FindHits editor={editor} playback={playback} find={find} />
      <Button onPress={onClose}>{t(commonText.close)}</Button>
    </section>
  );
}

/** What to search for. */
function FindForm({
  find,
  wanted,
  onChange,
}: {
  readonly find: Find;
  readonly wanted: Search;
  readonly onChange: (wanted: Search) => void;
}) {
  const t = useText();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        find.go(1);
      }}
    >
      <TextInput
        name="find"
        label={t(texts.find)}
        value={wanted.text}
        onChange={(text) => onChange({ ...wanted, text })}
        autoComplete="off"
      />
      <div className="find-options">
        <Option
          label={t(texts.wholeWords)}
          isOn={wanted.isWholeWords}
          onChange={(isWholeWords) => onChange({ ...wanted, isWholeWords })}
        />
        <Option
          label={t(texts.caseExact)}
          isOn={wanted.isCaseExact}
          onChange={(isCaseExact) => onChange({ ...wanted, isCaseExact })}
        />
      </div>
      <div className="find-actions">
        <Count find={find} isSearching={wanted.text.trim() !== ""} />
        <Button isDisabled={find.hits.length === 0} onPress={() => find.go(-1)}>
          {t(texts.previous)}
        </Button>
        <Button isDisabled={find.hits.length === 0} onPress={() => find.go(1)}>
          {t(texts.next)}
        </Button>
      </div>
    </form>
  );
}

/** What the hits are replaced by. */
function ReplaceForm({ find }: { readonly find: Find }) {
  const t = useText();
  const announce = useAnnounce();
  const [by, setBy] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        find.replaceOne(by);
      }}
    >
      <TextInput
        name="replace"
        label={t(texts.by)}
        value={by}
        onChange={setBy}
        autoComplete="off"
      />
      <div className="find-actions">
        <Button isDisabled={find.hits.length === 0} type="submit">
          {t(texts.replaceOne)}
        </Button>
        <Button
          isDisabled={find.ticked.length === 0}
          onPress={() => announce(t(texts.replaced)(find.replaceTicked(by)))}
        >
          {t(texts.replaceTicked)(find.ticked.length)}
        </Button>
      </div>
    </form>
  );
}

/** How many places were found, which is also announced. */
function Count({ find, isSearching }: { readonly find: Find; readonly isSearching: boolean }) {
  const t = useText();
  const { hits, at } = find;
  const count = hits.length === 0 ? t(texts.none) : t(texts.found)(hits.length);
  return (
    <output className="find-count">
      {isSearching && (at < 0 ? count : t(texts.foundAt)(at + 1, hits.length))}
    </output>
  );
}

function Option({
  label,
  isOn,
  onChange,
}: {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <label className="find-option">
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} />{" "}
      {label}
    </label>
  );
}

/** Closes the panel with Escape, goes back with Shift+Enter, and keeps the keys that open it. */
function usePanelKeys(
  root: RefObject<HTMLElement | null>,
  commands: Commands,
  handlers: { readonly onClose: () => void; readonly onPrevious: () => void },
): void {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    const panel = root.current;
    const onKey = (event: KeyboardEvent): void => {
      if (event.isComposing) return;
      const id = commands.commandOf(event);
      const isInFind = event.target instanceof HTMLInputElement && event.target.name === "find";
      if (event.key === "Escape") latest.current.onClose();
      else if (event.key === "Enter" && event.shiftKey && isInFind) latest.current.onPrevious();
      else if (id === "find" || id === "replace") commands.run(id);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    panel?.addEventListener("keydown", onKey);
    return () => panel?.removeEventListener("keydown", onKey);
  }, [root, commands]);
}
