import type {
  TranscriptDiffJson,
  VersionJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { Phrase } from "../../text/language.tsx";
import { asideText } from "../../text/transcript-aside.ts";

/** Returns the parts of a transcript that a diff changes, the most important first. */
export function changedParts(diff: TranscriptDiffJson): Phrase<string>[] {
  const { wordsAdded = 0, wordsRemoved = 0, wordsRetimed = 0 } = diff;
  const { wordsRespoken = 0, wordsResegmented = 0, metadataChanges = [] } = diff;
  const fields = new Set(metadataChanges.map(({ field = "" }) => field.split(".", 1)[0] ?? ""));
  const parts = [
    wordsAdded + wordsRemoved > 0 && asideText.changedText,
    wordsRetimed > 0 && asideText.changedTimes,
    wordsResegmented > 0 && asideText.changedBreaks,
    wordsRespoken > 0 && asideText.changedTurns,
    ...Object.entries(fieldNames).map(([field, phrase]) => fields.delete(field) && phrase),
    fields.size > 0 && asideText.changedOther,
  ];
  return parts.filter((part) => part !== false);
}

const fieldNames: Readonly<Record<string, Phrase<string>>> = {
  speakers: asideText.changedNames,
  subject: asideText.changedSubject,
  description: asideText.changedDescription,
  keywords: asideText.changedKeywords,
};

/** Returns the new names of the speakers that a diff renames, without those that it removes. */
export function renamedSpeakers({ metadataChanges = [] }: TranscriptDiffJson): readonly string[] {
  return metadataChanges.flatMap(({ field = "", value }) => {
    const isSpeaker = field.startsWith("speakers.") && typeof value === "object" && value !== null;
    const name = isSpeaker && "fullName" in value ? value.fullName : undefined;
    return typeof name === "string" && name !== "" ? [name] : [];
  });
}

/** Returns the counts of a diff that are not 0, each with its phrase. */
export function changedCounts(
  diff: TranscriptDiffJson,
): { readonly phrase: Phrase<(count: number) => string>; readonly count: number }[] {
  return [
    { phrase: asideText.added, count: diff.wordsAdded ?? 0 },
    { phrase: asideText.removed, count: diff.wordsRemoved ?? 0 },
    { phrase: asideText.retimed, count: diff.wordsRetimed ?? 0 },
    { phrase: asideText.respoken, count: diff.wordsRespoken ?? 0 },
    { phrase: asideText.resegmented, count: diff.wordsResegmented ?? 0 },
  ].filter(({ count }) => count > 0);
}

/** Returns how a version was made, as a phrase of who has made it; undefined if it is not known. */
export function madePhrase({ kind }: VersionJson): Phrase<(by: string) => string> | undefined {
  return kind === undefined || kind === "KIND_UNSPECIFIED" ? undefined : asideText.made[kind];
}
