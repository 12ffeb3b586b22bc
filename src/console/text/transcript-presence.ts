import { counted } from "./counted.ts";

const at = (place: string | undefined): string => (place === undefined ? "" : ` · ${place}`);

/** Texts of the page that shows a transcript, about others who have it open too. */
export const presenceText = {
  people: { is: "Aðrir með þennan texta opinn", en: "Others who have this text open" },
  edits: {
    is: (who: string, place: string | undefined) => `${who} breytir textanum${at(place)}`,
    en: (who: string, place: string | undefined) => `${who} is editing${at(place)}`,
  },
  reads: {
    is: (who: string, place: string | undefined) => `${who} les textann${at(place)}`,
    en: (who: string, place: string | undefined) => `${who} is reading${at(place)}`,
  },
  you: {
    is: (name: string) => `${name} (þú, annars staðar)`,
    en: (name: string) => `${name} (you, elsewhere)`,
  },
  noName: { is: "Nafnlaus notandi", en: "A user without a name" },
  joined: {
    is: (who: string, count: number) =>
      `${who || "Einhver"} vistaði útgáfu, sem er komin inn í textann: ${counted("is", count, "breytt málsgrein", "breyttar málsgreinar")}.`,
    en: (who: string, count: number) =>
      `${who || "Someone"} saved a version, which is in the text now: ${counted("en", count, "changed paragraph", "changed paragraphs")}.`,
  },
  joinsLater: {
    is: (who: string) =>
      `${who || "Einhver"} vistaði útgáfu; þínar breytingar sameinast henni þegar þú vistar.`,
    en: (who: string) => `${who || "Someone"} saved a version; your changes join it when you save.`,
  },
  clashes: {
    is: (who: string, count: number) =>
      `${who || "Einhver"} vistaði útgáfu með breytingum á sömu orðum og þú: ${counted("is", count, "árekstur", "árekstrar")}.`,
    en: (who: string, count: number) =>
      `${who || "Someone"} saved a version that changes the same words as you: ${counted("en", count, "clash", "clashes")}.`,
  },
  choose: { is: "Velja og sameina", en: "Choose and merge" },
  deleted: {
    is: "Uppskriftinni hefur verið eytt. Textinn er enn á þessari síðu; vistaðu hann sem skrá.",
    en: "The transcript was deleted. Its text is still on this page; save it as a file.",
  },
  saveText: { is: "Vista textann sem skrá", en: "Save the text as a file" },
  otherTab: {
    is: "Þessum texta er breytt í öðrum flipa eða glugga vafrans.",
    en: "This text is being edited in another tab or window of this browser.",
  },
  editHere: { is: "Breyta frekar hér", en: "Edit here instead" },
} as const;
