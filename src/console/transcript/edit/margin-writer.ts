import type { Language } from "../../text/language.tsx";
import { clockText } from "../../text/numbers.ts";
import { transcriptText } from "../../text/transcript.ts";
import { reviewText } from "../../text/transcript-review.ts";
import { editSpeakersText } from "../../text/edit-speakers.ts";
import type { WriteMargin } from "./editor/margins.ts";
import type { EditedParagraph } from "./model/base.ts";
import { startOfWord } from "./model/retimings.ts";

/**
 * Returns what the margins show in a language: the speaker of each turn, the times, and who has
 * checked each paragraph that is checked.
 */
export function marginWriter(
  language: Language,
  checkersOf?: (paragraph: EditedParagraph) => readonly string[] | undefined,
): WriteMargin {
  return (paragraph, previous, { base, speakers, retimings }) => {
    const { speaker, from } = paragraph;
    const checkers = checkersOf?.(paragraph);
    const isAtEnd = from >= base.words.length;
    const time = clockText(
      isAtEnd ? (base.ends.at(-1) ?? 0) : startOfWord(base, retimings, from).seconds,
    );
    const isTurn = speaker !== "" && previous?.speaker !== speaker;
    // Callers choose speaker ids, so an id may be "constructor" or a similar property name.
    const named = Object.hasOwn(speakers, speaker) ? speakers[speaker]?.fullName : undefined;
    const name = named ?? transcriptText.unknownSpeaker[language](speaker);
    return {
      speaker: isTurn ? name : "",
      speakerName:
        speaker === ""
          ? editSpeakersText.unknownSpeaker[language]
          : editSpeakersText.sameSpeaker[language](name),
      time,
      timeName: transcriptText.playFrom[language](time),
      checked: checkers ? reviewText.checked[language](checkers) : "",
    };
  };
}
