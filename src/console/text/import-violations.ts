import type { FieldViolation } from "../api/api-error.ts";
import { jobViolationText } from "./job-violations.ts";
import { count, explained, type Explained, type Explanations } from "./explained-messages.ts";

/**
 * Patterns of the service's messages about files that are imported, and what the console shows
 * instead.
 */
const explanations: Explanations = [
  [
    /^times such as (.+) are expected, not (.*)$/s,
    ([example, found]) => ({
      is: `Hér ættu að vera tímar, til dæmis ${example}, en ekki ${found}.`,
      en: `Times such as ${example} are expected here, not ${found}.`,
    }),
  ],
  [
    /^WEBVTT is expected, not (.*)$/s,
    ([found]) => ({
      is: `Hér ætti að standa WEBVTT, en ekki ${found}.`,
      en: `WEBVTT is expected here, not ${found}.`,
    }),
  ],
  [
    /^the cue ends before it begins/,
    () => ({
      is: "Skjátextinn endar áður en hann byrjar.",
      en: "The subtitle ends before it begins.",
    }),
  ],
  [
    /^minutes and seconds must be 0 to 59/,
    () => ({
      is: "Mínútur og sekúndur þurfa að vera 0 til 59.",
      en: "Minutes and seconds must be 0 to 59.",
    }),
  ],
  [
    /^times must be at most (\d+) hours/,
    ([hours]) => ({
      is: `Tímar mega mest vera ${count("is", hours)} klst.`,
      en: `Times must be at most ${count("en", hours)} hours.`,
    }),
  ],
  [
    /^the time (\S+) is before the time above it, (\S+)$/,
    ([late, early]) => ({
      is: `Tíminn ${late} er á undan tímanum fyrir ofan, ${early}.`,
      en: `The time ${late} is before the time above it, ${early}.`,
    }),
  ],
  [
    /^segments is required/,
    () => ({
      is: "Þetta er ekki uppskrift eins og hún er sótt héðan: „segments“ vantar.",
      en: "This is not a transcript as it is downloaded here: “segments” is missing.",
    }),
  ],
  [
    /^not valid JSON at column (\d+): expected .*, found (.*)$/s,
    ([column, found]) => ({
      is: `Þetta er ekki gilt JSON við staf ${column}: ${found === "the end" ? "skráin endar of snemma" : found}.`,
      en: `This is not valid JSON at column ${column}: ${found === "the end" ? "the file ends too early" : found}.`,
    }),
  ],
  [
    /^(\S+) is before its startTime$/,
    ([field]) => ({
      is: `${field} er á undan startTime.`,
      en: `${field} is before its startTime.`,
    }),
  ],
  [
    /^(\S+) is before the start of its segment$/,
    ([field]) => ({
      is: `${field} er á undan byrjun málsgreinarinnar.`,
      en: `${field} is before the start of its paragraph.`,
    }),
  ],
  [
    /^(\S+) is after the end of its segment$/,
    ([field]) => ({
      is: `${field} er á eftir lokum málsgreinarinnar.`,
      en: `${field} is after the end of its paragraph.`,
    }),
  ],
  [
    /^(\S+) is before that of the previous (?:segment|word)$/,
    ([field]) => ({
      is: `${field} er á undan því sem kemur á undan.`,
      en: `${field} is before the one above it.`,
    }),
  ],
  [
    /^(segments\S*|metadata\S*) is required/,
    ([field]) => ({ is: `${field} vantar.`, en: `${field} is missing.` }),
  ],
  [
    /^has (\d+) (?:cues with text|paragraphs): at most (\d+)/,
    ([found, max]) => ({
      is: `Málsgreinarnar eru ${count("is", found)}; mest ${count("is", max)} komast fyrir.`,
      en: `${count("en", found)} paragraphs; the limit is ${count("en", max)}.`,
    }),
  ],
  [
    /^has (\d+) words; at most (\d+)/,
    ([found, max]) => ({
      is: `Orðin eru ${count("is", found)}; mest ${count("is", max)} komast fyrir.`,
      en: `${count("en", found)} words; the limit is ${count("en", max)}.`,
    }),
  ],
  [
    /^names a speaker in (\d+) characters: at most (\d+)/,
    ([found, max]) => ({
      is: `Nafn mælanda er ${count("is", found)} stafir; mest ${count("is", max)} komast fyrir.`,
      en: `The name of a speaker has ${count("en", found)} characters; the limit is ${count("en", max)}.`,
    }),
  ],
  [
    /^names more than (\d+) speakers/,
    ([max]) => ({
      is: `Mælendurnir eru fleiri en ${count("is", max)}.`,
      en: `It has more than ${count("en", max)} speakers.`,
    }),
  ],
  [/^is required/, () => ({ is: "Skráin er tóm.", en: "The file is empty." })],
];

/** Returns why a file was not imported, with the line if the service names it. */
export function importViolationText(violation: FieldViolation): Explained {
  const { field, description } = violation;
  if (field !== "content") return jobViolationText(violation);
  const [, line, reason = description] = /^line (\d+): (.*)$/s.exec(description) ?? [];
  const said = explained(reason, explanations);
  if (line === undefined) return said;
  const { is, en } = said;
  return {
    ...said,
    is: `Lína ${count("is", line)}: ${is}`,
    en: `Line ${count("en", line)}: ${en}`,
  };
}
