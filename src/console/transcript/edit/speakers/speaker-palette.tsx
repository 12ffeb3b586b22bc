import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { DialogBox } from "../../../parts/dialog-box.tsx";
import { TextInput } from "../../../parts/text-input.tsx";
import { commonText } from "../../../text/common.ts";
import { editSpeakersText as texts } from "../../../text/edit-speakers.ts";
import { useLanguage, useText } from "../../../text/language.tsx";
import type { Editor } from "../editor/editor.ts";
import { freeSpeakerId, nameSpeaker, setSpeaker } from "../editor/speaker-commands.ts";
import { type KnownSpeaker, type KnownSpeakers, speakerName } from "./known-speakers.ts";
import "./speaker-palette.css";

/**
 * Chooses the speaker of a paragraph, or of all paragraphs of its speaker, by a key or the mouse.
 * Speakers are added and renamed here as well.
 */
export function SpeakerPalette({
  editor,
  known: knownSpeakers,
  index,
  ofAll,
  onClose,
}: {
  readonly editor: Editor;
  readonly known: KnownSpeakers;
  /** The index of the paragraph. */
  readonly index: number;
  readonly ofAll: boolean;
  readonly onClose: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const [isOfAll, setOfAll] = useState(ofAll);
  const [renamed, setRenamed] = useState<string>();
  const current = editor.paragraphs()[index]?.speaker ?? "";
  const speakers = editor.speakers();
  const nameOf = (id: string): string => speakerName(speakers, id, language);
  const known = knownSpeakers.list();
  const choose = (id: string): void => {
    editor.run(setSpeaker(index, id, { ofAll: isOfAll }));
    onClose();
  };
  const add = (fullName: string): void => {
    const id = freeSpeakerId(editor.state.doc);
    editor.run(setSpeaker(index, id, { ofAll: isOfAll, added: { fullName } }));
    onClose();
  };
  return (
    <DialogBox
      title={isOfAll ? t(texts.titleOfAll)(nameOf(current)) : t(texts.title)}
      isOpen
      onClose={onClose}
      isDismissable
    >
      <PaletteKeys
        onKey={(key) => {
          const speaker = known.find((one) => one.key === key);
          if (speaker) choose(speaker.id);
        }}
      />
      <SpeakerList
        known={known}
        current={current}
        nameOf={nameOf}
        onChoose={choose}
        onRename={setRenamed}
      />
      <label className="palette-all">
        <input
          type="checkbox"
          checked={isOfAll}
          onChange={({ target }) => setOfAll(target.checked)}
        />{" "}
        {t(texts.everywhere)}
      </label>
      {renamed === undefined ? (
        <NameForm key="added" label={t(texts.added)} button={t(texts.add)} onSent={add} />
      ) : (
        <NameForm
          key={renamed}
          label={t(texts.newName)(nameOf(renamed))}
          button={t(texts.save)}
          before={speakers[renamed]?.fullName ?? ""}
          onSent={(fullName) => {
            editor.run(nameSpeaker(renamed, fullName));
            onClose();
          }}
        />
      )}
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
      </div>
    </DialogBox>
  );
}

/** The speakers, each with its key, and a button to rename it. */
function SpeakerList({
  known,
  current,
  nameOf,
  onChoose,
  onRename,
}: {
  readonly known: readonly KnownSpeaker[];
  readonly current: string;
  readonly nameOf: (id: string) => string;
  readonly onChoose: (id: string) => void;
  readonly onRename: (id: string) => void;
}) {
  const t = useText();
  return (
    <ul className="palette" aria-label={t(texts.speakers)}>
      {known.map(({ id, key }) => (
        <li key={id}>
          <Button
            className="palette-speaker"
            aria-keyshortcuts={key}
            aria-pressed={id === current}
            onPress={() => onChoose(id)}
          >
            {key !== undefined && <kbd>{key.toUpperCase()}</kbd>} {nameOf(id)}
          </Button>
          <Button
            look="quiet"
            aria-label={t(texts.rename)(nameOf(id))}
            onPress={() => onRename(id)}
          >
            {t(texts.renameShort)}
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** Passes the keys on that are pressed in the dialog, except in its text field. */
function PaletteKeys({ onKey }: { readonly onKey: (key: string) => void }) {
  const t = useText();
  const hint = useRef<HTMLParagraphElement>(null);
  const latest = useRef(onKey);
  useEffect(() => {
    latest.current = onKey;
  });
  useEffect(() => {
    const dialog = hint.current?.closest<HTMLElement>("[role=dialog]");
    const press = (event: KeyboardEvent): void => {
      const { target, key, ctrlKey, metaKey, altKey, isComposing } = event;
      const isText = target instanceof HTMLInputElement && target.type !== "checkbox";
      if (isText || ctrlKey || metaKey || altKey || isComposing || key.length !== 1) return;
      latest.current(key.toLowerCase());
    };
    dialog?.addEventListener("keydown", press, { capture: true });
    return () => dialog?.removeEventListener("keydown", press, { capture: true });
  }, []);
  return (
    <p ref={hint} className="quiet">
      {t(texts.hint)}
    </p>
  );
}

function NameForm({
  label,
  button,
  before = "",
  onSent,
}: {
  readonly label: string;
  readonly button: string;
  readonly before?: string;
  readonly onSent: (name: string) => void;
}) {
  const [name, setName] = useState(before);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== "") onSent(name.trim().normalize("NFC"));
  };
  return (
    <form className="palette-name" onSubmit={send}>
      <TextInput label={label} value={name} onChange={setName} autoComplete="off" />
      <Button type="submit" isDisabled={name.trim() === ""}>
        {button}
      </Button>
    </form>
  );
}
