import { counted } from "./counted.ts";

/** Texts of the page of the account's settings. */
export const settingsText = {
  sub: {
    is: "Gilda fyrir alla sem eru á reikningnum.",
    en: "They apply to everyone in the account.",
  },
  notAllowed: {
    is: "Stillingar reikningsins eru í höndum eigenda",
    en: "Only owners can change the account's settings",
  },
  notAllowedNext: {
    is: "Biddu eiganda um breytinguna, eða um hlutverk eiganda.",
    en: "Ask an owner for the change, or for the owner role.",
  },
  name: { is: "Nafn reikningsins", en: "Name of the account" },
  nameTooLong: {
    is: "Nafnið er of langt: það má mest vera 200 stafir.",
    en: "The name is too long: the limit is 200 characters.",
  },
  retention: { is: "Hve lengi er geymt?", en: "How long is data kept?" },
  retentionNext: {
    is: "Eytt er innan klukkustundar frá því að tíminn er liðinn. Eyðingu er ekki hægt að taka aftur.",
    en: "Data is deleted within an hour after its time is over. This cannot be undone.",
  },
  media: { is: "Upptökur, eftir komu þeirra", en: "Recordings, after their arrival" },
  mediaHint: {
    is: "Textinn verður eftir þegar upptökunni er eytt.",
    en: "The text stays when the recording is deleted.",
  },
  transcripts: {
    is: "Uppskriftir, eftir síðustu breytingu",
    en: "Transcripts, after their last change",
  },
  transcriptsHint: {
    is: "Útgáfum og upptökum er eytt með þeim.",
    en: "Versions and recordings are deleted with them.",
  },
  keepOf: {
    "0": { is: "alltaf", en: "forever" },
    "7": { is: "í 7 daga", en: "for 7 days" },
    "30": { is: "í 30 daga", en: "for 30 days" },
    "90": { is: "í 90 daga", en: "for 90 days" },
    "365": { is: "í eitt ár", en: "for a year" },
    other: { is: "annað…", en: "another time…" },
  },
  days: { is: "Dagar", en: "Days" },
  daysWrong: {
    is: "Skrifaðu fjölda daga, frá 1 til 36.500.",
    en: "Enter a number of days, from 1 to 36,500.",
  },
  shorter: {
    is: "Þetta er styttri tími en áður: það sem eldra er verður eytt innan klukkustundar.",
    en: "This is shorter than before: what is older will be deleted within an hour.",
  },
  confirmTitle: { is: "Stytta geymslutímann?", en: "Keep data for a shorter time?" },
  confirmMedia: {
    is: (days: number) =>
      `Upptökur verða aðeins geymdar í ${counted("is", days, "dag", "daga")}. Eldri upptökum verður eytt.`,
    en: (days: number) =>
      `Recordings will be kept for ${counted("en", days, "day", "days")} only. Older recordings will be deleted.`,
  },
  confirmTranscripts: {
    is: (days: number) =>
      `Uppskriftir verða aðeins geymdar í ${counted("is", days, "dag", "daga")}. Eldri uppskriftum verður eytt.`,
    en: (days: number) =>
      `Transcripts will be kept for ${counted("en", days, "day", "days")} only. Older transcripts will be deleted.`,
  },
  confirm: { is: "Stytta og eyða", en: "Shorten and delete" },
  vocabulary: { is: "Orðaforði", en: "Vocabulary" },
  candidates: {
    is: "Bjóða leiðréttingar í uppskriftum sem tillögur að orðaforða",
    en: "Offer corrections in transcripts as suggestions for the vocabulary",
  },
  saved: { is: "Stillingarnar hafa verið vistaðar.", en: "The settings were saved." },
} as const;
