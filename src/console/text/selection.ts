import { counted } from "./counted.ts";
import { numberText } from "./numbers.ts";

const transcripts = {
  is: (count: number) => counted("is", count, "uppskrift", "uppskriftir"),
  en: (count: number) => counted("en", count, "transcript", "transcripts"),
};

/** Texts of the actions on several transcripts. */
export const selectionText = {
  bar: { is: "Valdar uppskriftir", en: "Selected transcripts" },
  selected: {
    is: (count: number) => `${transcripts.is(count)} í vali`,
    en: (count: number) => `${transcripts.en(count)} selected`,
  },
  selectAll: { is: "Velja allar í listanum", en: "Select all in the list" },
  selectNone: { is: "Velja enga", en: "Clear selection" },
  keyword: { is: "Efnisorð fyrir þær allar", en: "Keyword for all of them" },
  addKeyword: { is: "Bæta við efnisorði", en: "Add keyword" },
  again: { is: "Skrifa upp aftur", en: "Transcribe again" },
  remove: { is: "Eyða", en: "Delete" },
  zip: { is: "Sækja ZIP", en: "Download ZIP" },
  format: { is: "Snið skránna", en: "File format" },
  formatOf: {
    TEXT: { is: "Texti", en: "Text" },
    DOCX: { is: "Word (DOCX)", en: "Word document (DOCX)" },
    ODT: { is: "ODT-skjal", en: "ODT document" },
    SRT: { is: "Skjátextar (SRT)", en: "Subtitles (SRT)" },
    VTT: { is: "Skjátextar (WebVTT)", en: "Subtitles (WebVTT)" },
    JSON: { is: "JSON-skrá", en: "JSON" },
  },
  removeTitle: {
    is: (count: number) => `Eyða ${transcripts.is(count)}?`,
    en: (count: number) => `Delete ${transcripts.en(count)}?`,
  },
  removeBin: {
    is: (days: number) =>
      `Þær fara í ruslið og hverfa eftir ${counted("is", days, "dag", "daga")}. Þangað til má endurheimta þær.`,
    en: (days: number) =>
      `They go into the bin, and are deleted after ${counted("en", days, "day", "days")}. Until then they can be restored.`,
  },
  removeForever: {
    is: "Þær hverfa með öllum útgáfum sínum og upptökum. Það verður ekki tekið aftur.",
    en: "They are deleted with all their versions and recordings. This cannot be undone.",
  },
  progress: {
    is: (done: string, all: string) => `${done} af ${all}`,
    en: (done: string, all: string) => `${done} of ${all}`,
  },
  stop: { is: "Hætta", en: "Stop" },
  done: {
    keyword: {
      is: (count: number) => `Efnisorðinu var bætt við ${transcripts.is(count)}.`,
      en: (count: number) => `The keyword was added to ${transcripts.en(count)}.`,
    },
    again: {
      is: (count: number) => `Sent til uppskriftar aftur: ${transcripts.is(count)}.`,
      en: (count: number) => `Submitted again: ${transcripts.en(count)}.`,
    },
    zip: {
      is: (count: number) => `Sótt: ${transcripts.is(count)}.`,
      en: (count: number) => `Downloaded: ${transcripts.en(count)}.`,
    },
    binned: {
      is: (count: number) => `Í ruslið: ${transcripts.is(count)}.`,
      en: (count: number) => `Moved to the bin: ${transcripts.en(count)}.`,
    },
    removed: {
      is: (count: number) => `Eytt: ${transcripts.is(count)}.`,
      en: (count: number) => `Deleted: ${transcripts.en(count)}.`,
    },
    restored: {
      is: (count: number) => `Endurheimt: ${transcripts.is(count)}.`,
      en: (count: number) => `Restored: ${transcripts.en(count)}.`,
    },
  },
  failed: {
    is: (count: number) => `Tókst ekki: ${transcripts.is(count)}.`,
    en: (count: number) => `Failed: ${transcripts.en(count)}.`,
  },
  stopped: {
    is: (count: number) => `Ekki reynt: ${transcripts.is(count)}.`,
    en: (count: number) => `Not tried: ${transcripts.en(count)}.`,
  },
  selecting: { is: "Vel uppskriftir…", en: "Selecting…" },
  tooMany: {
    is: (max: number) =>
      `Aðeins ${numberText("is", max)} fyrstu uppskriftir listans eru í vali, sem er hámarkið. Þrengdu leitina, eða farðu yfir listann í nokkrum lotum.`,
    en: (max: number) =>
      `Only the first ${numberText("en", max)} transcripts of the list are selected, which is the limit. Narrow the search, or handle the list in several rounds.`,
  },
  allHint: {
    is: (max: number) =>
      `Velur allar uppskriftir sem leitin finnur, einnig þær sem sjást ekki enn, mest ${numberText("is", max)}.`,
    en: (max: number) =>
      `Selects all transcripts that the search finds, also those not loaded yet, at most ${numberText("en", max)}.`,
  },
} as const;
