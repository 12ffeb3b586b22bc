import type { Language } from "../../../text/language.tsx";
import { editSpeakersText } from "../../../text/edit-speakers.ts";
import { transcriptText } from "../../../text/transcript.ts";
import type { Editor } from "../editor/editor.ts";
import type { Speakers } from "../editor/schema.ts";

/** A speaker that can be chosen, by a key where there is one. */
export interface KnownSpeaker {
  readonly id: string;
  readonly key: string | undefined;
}

/** The keys of the first speakers. */
const keys = "123456789abcdefghijklmnopqrstuvwxyz";

/**
 * The speakers of a text and their keys: at first in the order in which they speak, then the
 * others. A speaker keeps the key as long as the text is edited, wherever the speaker then speaks;
 * new speakers get the next keys.
 */
export class KnownSpeakers {
  readonly #order = new Set<string>();
  readonly #editor: Pick<Editor, "paragraphs" | "speakers">;

  constructor(editor: Pick<Editor, "paragraphs" | "speakers">) {
    this.#editor = editor;
    this.list();
  }

  /** Returns the speakers that the text or its list of names has now. */
  list(): KnownSpeaker[] {
    const said = this.#editor.paragraphs().map(({ speaker }) => speaker);
    const now = new Set([...said, ...Object.keys(this.#editor.speakers())]);
    now.delete("");
    for (const id of now) this.#order.add(id);
    return [...this.#order]
      .map((id, at) => ({ id, key: keys[at] }))
      .filter(({ id }) => now.has(id));
  }
}

/** Returns the name of a speaker to show. */
export function speakerName(speakers: Speakers, id: string, language: Language): string {
  if (id === "") return editSpeakersText.noSpeaker[language];
  // Callers choose speaker ids, so an id may be "constructor" or a similar property name.
  const named = Object.hasOwn(speakers, id) ? speakers[id]?.fullName : undefined;
  return named ?? transcriptText.unknownSpeaker[language](id);
}
