import { counted } from "./counted.ts";
import { numberText } from "./numbers.ts";

/** Texts of the dialogs of a transcript's aside: comparing, restoring, editing and deleting. */
export const asideDialogText = {
  restoreTitle: { is: "Endurheimta þessa útgáfu?", en: "Restore this version?" },
  restoreQuestion: {
    is: (when: string) =>
      `Textinn og upplýsingarnar verða eins og þau voru (${when}). Úr því verður ný útgáfa; engin eldri glatast.`,
    en: (when: string) =>
      `The text and details return to what they were (${when}). This creates a new version; no older version is lost.`,
  },
  restored: {
    is: "Útgáfan er endurheimt og er nú sú nýjasta.",
    en: "The version was restored and is now the newest.",
  },
  restoreStale: {
    is: "Uppskriftinni var breytt annars staðar á meðan. Skoðaðu nýjustu útgáfuna áður en þú endurheimtir þessa.",
    en: "The transcript was changed elsewhere in the meantime. Look at the newest version before you restore this one.",
  },

  comparedWith: { is: "Borið saman við", en: "Compared with" },
  versionOf: {
    is: (when: string) => `Útgáfan: ${when}`,
    en: (when: string) => `Version: ${when}`,
  },
  theOneBefore: { is: "útgáfuna á undan", en: "the previous version" },
  previousChange: { is: "Fyrri breyting", en: "Previous change" },
  nextChange: { is: "Næsta breyting", en: "Next change" },
  changeAt: {
    is: (at: number, of: string) => `${at} af ${of}`,
    en: (at: number, of: string) => `${at} of ${of}`,
  },
  places: {
    is: (count: number, more: boolean) =>
      `${counted("is", count, "staður", "staðir")}${more ? " eða fleiri" : ""}`,
    en: (count: number, more: boolean) =>
      `${counted("en", count, "place", "places")}${more ? " or more" : ""}`,
  },
  changes: { is: "Breytingar", en: "Changes" },
  facts: { is: "Upplýsingar", en: "Details" },
  moreChanges: { is: "Sýna fleiri breytingar", en: "Show more changes" },
  wholeText: {
    is: (count: number) => `Sýna öll ${counted("is", count, "orðið", "orðin")}`,
    en: (count: number) => `Show all ${counted("en", count, "word", "words")}`,
  },
  nothingDiffers: {
    is: "Þessar útgáfur eru eins.",
    en: "These versions are identical.",
  },
  subject: { is: "Titill", en: "Title" },
  description: { is: "Lýsing", en: "Description" },
  keywords: { is: "Efnisorð", en: "Keywords" },
  language: { is: "Tungumál", en: "Language" },
  fileType: { is: "Tegund", en: "Type" },
  editTitle: { is: "Breyta upplýsingum", en: "Edit details" },
  saved: { is: "Upplýsingarnar eru vistaðar.", en: "The details were saved." },
  tooLong: {
    is: (over: number, max: number) =>
      `${counted("is", over, "staf", "stöfum")} of langt: mest ${counted("is", max, "stafur", "stafir")}.`,
    en: (over: number, max: number) =>
      `Too long by ${counted("en", over, "character", "characters")}: the limit is ${numberText("en", max)}.`,
  },
  addKeyword: { is: "Nýtt efnisorð", en: "New keyword" },
  keywordHint: {
    is: "Enter eða komma bætir orðinu við. Backspace í auðum reit tekur það síðasta burt.",
    en: "Enter or a comma adds the keyword. Backspace in an empty field removes the last one.",
  },
  removeKeyword: {
    is: (keyword: string) => `Taka burt efnisorðið ${keyword}`,
    en: (keyword: string) => `Remove keyword ${keyword}`,
  },
  keywordAdded: {
    is: (keyword: string) => `Efnisorðinu ${keyword} var bætt við.`,
    en: (keyword: string) => `The keyword ${keyword} was added.`,
  },
  keywordRemoved: {
    is: (keyword: string) => `Efnisorðið ${keyword} var tekið burt.`,
    en: (keyword: string) => `The keyword ${keyword} was removed.`,
  },
  keywordThere: {
    is: "Þetta efnisorð er þegar á uppskriftinni.",
    en: "The transcript already has this keyword.",
  },
  keywordsFull: {
    is: (max: number) => `Efnisorðin eru orðin ${numberText("is", max)}: fleiri komast ekki að.`,
    en: (max: number) => `The limit of ${numberText("en", max)} keywords is reached.`,
  },
  changedElsewhere: {
    is: "Þessu var breytt annars staðar meðan þú skrifaðir. Þitt er enn í reitunum; hér er það sem nú stendur.",
    en: "This was changed elsewhere while you were editing. Your text is still in the fields; this is the current version:",
  },

  nothing: { is: "(ekkert)", en: "(nothing)" },
  removeTitle: {
    is: (subject: string) => `Eyða „${subject}“?`,
    en: (subject: string) => `Delete “${subject}”?`,
  },
  removeQuestion: {
    is: "Uppskriftin hverfur með öllum útgáfum sínum og upptökunni sjálfri. Það verður ekki tekið aftur.",
    en: "The transcript is deleted with all its versions and the recording itself. This cannot be undone.",
  },
  removeQuestionText: {
    is: "Uppskriftin hverfur með öllum útgáfum sínum. Það verður ekki tekið aftur.",
    en: "The transcript is deleted with all its versions. This cannot be undone.",
  },
  binQuestion: {
    is: (days: number) =>
      `Uppskriftin fer í ruslið með upptökunni, og hverfur eftir ${counted("is", days, "dag", "daga")}. Þangað til má endurheimta hana. Tenglar á hana virka ekki á meðan.`,
    en: (days: number) =>
      `The transcript goes into the bin with its recording, and is deleted after ${counted("en", days, "day", "days")}. Until then it can be restored. Links to it do not work in the meantime.`,
  },
  removeYes: { is: "Eyða", en: "Delete" },
  binnedTranscript: {
    is: (subject: string) => `„${subject}“ er í ruslinu.`,
    en: (subject: string) => `“${subject}” is in the bin.`,
  },
  takenFromBin: {
    is: (subject: string) => `„${subject}“ var endurheimt.`,
    en: (subject: string) => `“${subject}” was restored.`,
  },
  notInBin: {
    is: (subject: string) => `„${subject}“ er ekki lengur í ruslinu.`,
    en: (subject: string) => `“${subject}” is no longer in the bin.`,
  },
  removedTranscript: {
    is: (subject: string) => `„${subject}“ var eytt.`,
    en: (subject: string) => `“${subject}” was deleted.`,
  },
  untitled: { is: "Uppskrift án titils", en: "Untitled transcript" },
} as const;
