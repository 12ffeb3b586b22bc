import type { EditedParagraph } from "../model/base.ts";
import type { Clash } from "../model/merge.ts";
import { movedPins, pinsWithin, withPins } from "../model/pins.ts";

/** What the user takes of a clash. */
export type Choice = "mine" | "theirs" | "both";

/** Returns the paragraphs after the user has chosen for each clash, which are in reading order. */
export function afterChoices(
  paragraphs: readonly EditedParagraph[],
  clashes: readonly Clash[],
  choices: readonly Choice[],
): readonly EditedParagraph[] {
  let text = paragraphs;
  // From the end, so that the places before a change stay valid.
  for (const [at, clash] of [...clashes.entries()].toReversed()) {
    const choice = choices[at] ?? "mine";
    if (choice === "mine") continue;
    text =
      clash.kind === "speaker" ? withTheirSpeaker(text, clash) : withTheirs(text, clash, choice);
  }
  return text;
}

function withTheirSpeaker(
  paragraphs: readonly EditedParagraph[],
  { paragraph, theirs: speaker }: Extract<Clash, { kind: "speaker" }>,
): readonly EditedParagraph[] {
  const clashing = paragraphs[paragraph];
  return clashing ? paragraphs.with(paragraph, { ...clashing, speaker }) : paragraphs;
}

function withTheirs(
  paragraphs: readonly EditedParagraph[],
  { from, to, mine, theirs }: Extract<Clash, { kind: "words" }>,
  choice: Exclude<Choice, "mine">,
): readonly EditedParagraph[] {
  const [first, last] = [paragraphs[from.paragraph], paragraphs[to.paragraph]];
  if (!first || !last) return paragraphs;
  const [begin = "", ...others] = choice === "theirs" ? theirs : joined(mine, theirs);
  const texts = [first.text.slice(0, from.offset) + begin, ...others];
  const end = texts.at(-1)?.length ?? 0;
  texts[texts.length - 1] += last.text.slice(to.offset);
  const before = pinsWithin(first.pins, 0, from.offset);
  const after = movedPins(pinsWithin(last.pins, to.offset), end);
  // The words' sound belongs to the first paragraph, as with text that is typed.
  const replaced = texts.map((text, at) => {
    const isSoft = at === 0 && first.isSoft;
    const run = { from: at === 0 ? first.from : last.to, to: last.to };
    const pins = [...(at === 0 ? before : []), ...(at === texts.length - 1 ? after : [])];
    return withPins({ ...first, text, isSoft, ...run }, pins);
  });
  return paragraphs.toSpliced(from.paragraph, to.paragraph - from.paragraph + 1, ...replaced);
}

/** Returns mine and theirs, with a space between their words. */
function joined(mine: readonly string[], theirs: readonly string[]): readonly string[] {
  const [end = "", [begin = "", ...rest]] = [mine.at(-1), theirs];
  const space = end === "" || begin === "" || /\s$/.test(end) ? "" : " ";
  return [...mine.slice(0, -1), end + space + begin, ...rest];
}
