import { counted } from "./counted.ts";
import { numberText } from "./numbers.ts";

/** Texts of finding in a text, and of find and replace in the editor. */
export const findingText = {
  title: { is: "Leita og skipta út", en: "Find and replace" },
  titleReading: { is: "Leita í textanum", en: "Find in the text" },
  open: { is: "Leita", en: "Find" },
  find: { is: "Leita að", en: "Find" },
  by: { is: "Skipta út fyrir", en: "Replace with" },
  wholeWords: { is: "Heil orð", en: "Whole words" },
  caseExact: { is: "Hástafir skipta máli", en: "Match capitals" },
  previous: { is: "Fyrri", en: "Previous" },
  next: { is: "Næsti", en: "Next" },
  replaceOne: { is: "Skipta út", en: "Replace" },
  replaceTicked: {
    is: (count: number) => `Skipta út öllum merktum (${numberText("is", count)})`,
    en: (count: number) => `Replace all ticked (${numberText("en", count)})`,
  },
  found: {
    is: (count: number) => counted("is", count, "staður", "staðir"),
    en: (count: number) => counted("en", count, "place", "places"),
  },
  foundAt: {
    is: (at: number, count: number) => `${numberText("is", at)} af ${numberText("is", count)}`,
    en: (at: number, count: number) => `${numberText("en", at)} of ${numberText("en", count)}`,
  },
  none: { is: "Fannst ekki", en: "Not found" },
  replaced: {
    is: (count: number) => `Skipt út á ${counted("is", count, "stað", "stöðum")}.`,
    en: (count: number) => `Replaced in ${counted("en", count, "place", "places")}.`,
  },
  hits: { is: "Staðir í textanum", en: "Places in the text" },
  tick: {
    is: (time: string) => `Skipta út við ${time}`,
    en: (time: string) => `Replace at ${time}`,
  },
  play: { is: (time: string) => `Spila frá ${time}`, en: (time: string) => `Play from ${time}` },
  more: { is: "Sýna fleiri", en: "Show more" },
  earlier: { is: "Sýna fyrri staði", en: "Show earlier places" },
} as const;
