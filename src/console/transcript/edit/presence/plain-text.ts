import type { Speakers } from "../editor/schema.ts";
import type { EditedParagraph } from "../model/base.ts";

/** Returns an edited text as plain text, with an empty line between paragraphs. */
export function plainText(paragraphs: readonly EditedParagraph[], speakers: Speakers): string {
  let before: string | undefined;
  const parts = paragraphs.map(({ text, speaker }) => {
    const name = Object.hasOwn(speakers, speaker) ? (speakers[speaker]?.fullName ?? "") : "";
    const shown = name === "" ? speaker : name;
    const isOther = speaker !== before && shown !== "";
    before = speaker;
    return isOther ? `${shown}: ${text.trim()}` : text.trim();
  });
  return `${parts.join("\n\n")}\n`;
}
