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

/** Returns all speakers: those of the text in the order in which they first speak, then others. */
export function knownSpeakers(editor: Editor): KnownSpeaker[] {
  const said = editor.paragraphs().map(({ speaker }) => speaker);
  const ids = new Set([...said, ...Object.keys(editor.speakers())]);
  ids.delete("");
  return [...ids].map((id, at) => ({ id, key: keys[at] }));
}

/** Returns the name of a speaker to show. */
export function speakerName(speakers: Speakers, id: string, language: Language): string {
  if (id === "") return editSpeakersText.noSpeaker[language];
  // Callers choose speaker ids, so an id may be "constructor" or a similar property name.
  const named = Object.hasOwn(speakers, id) ? speakers[id]?.fullName : undefined;
  return named ?? transcriptText.unknownSpeaker[language](id);
}
