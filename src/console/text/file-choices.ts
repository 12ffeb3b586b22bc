import { numberText } from "./numbers.ts";

/** Texts of the choices of what downloaded files show. */
export const fileChoicesText = {
  inSubtitles: { is: "Í skjátextum, SRT og VTT", en: "In SRT and VTT subtitles" },
  srtSpeakers: { is: "Nöfn í SRT", en: "Names in SRT" },
  vttSpeakers: { is: "Nöfn í VTT", en: "Names in VTT" },
  lineChars: { is: "Lengd línu", en: "Line length" },
  chars: {
    is: (chars: number) => `${numberText("is", chars)} stafir`,
    en: (chars: number) => `${numberText("en", chars)} characters`,
  },
  lines: { is: "Línur í skjátexta", en: "Lines per subtitle" },
  optionsIn: {
    documents: { is: "Í Word- og ODT-skjölum", en: "In Word and ODT documents" },
    text: { is: "Í textaskrám og afrituðum texta", en: "In text files and copied text" },
  },
  timesWithin: { is: "Tímar inni í málsgreinum", en: "Times within paragraphs" },
  timesEach: {
    is: (seconds: number) =>
      seconds === 0
        ? "Engir"
        : seconds < 60
          ? `Á ${numberText("is", seconds)} s fresti`
          : `Á ${numberText("is", seconds / 60)} mín. fresti`,
    en: (seconds: number) =>
      seconds === 0
        ? "None"
        : seconds < 60
          ? `Each ${numberText("en", seconds)} s`
          : `Each ${numberText("en", seconds / 60)} min`,
  },
  documentOptions: {
    speakers: { is: "Nöfn", en: "Names" },
    times: { is: "Tímar", en: "Times" },
    title: { is: "Fyrirsögn", en: "Heading" },
  },
} as const;
