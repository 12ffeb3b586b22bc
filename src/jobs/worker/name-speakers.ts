import { create } from "@bufbuild/protobuf";
import {
  SpeakerInfoSchema,
  type TranscriptMetadata,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** The default names of speakers, until a user sets others. */
const nouns: Readonly<Record<string, string>> = { is: "Mælandi", en: "Speaker" };

/**
 * Gives every speaker a name (§2.1, `speakers`) in the language of the recording. Names set by the
 * caller remain.
 */
export function nameSpeakers(metadata: TranscriptMetadata, ids: readonly string[]): void {
  const [language = ""] = metadata.languageCode.split("-");
  const noun = nouns[language] ?? "Speaker";
  for (const id of ids) {
    if (Object.hasOwn(metadata.speakers, id)) continue;
    metadata.speakers[id] = create(SpeakerInfoSchema, { fullName: `${noun} ${id}` });
  }
}
