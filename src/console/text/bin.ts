import { counted } from "./counted.ts";

/** Texts of the bin. */
export const binText = {
  bin: { is: "Rusl", en: "Bin" },
  open: { is: "Ruslið", en: "Bin" },
  sub: {
    is: (days: number) =>
      `Eyddum uppskriftum er haldið í ${counted("is", days, "dag", "daga")}. Upptökur þeirra teljast með í geymslunni á meðan.`,
    en: (days: number) =>
      `Deleted transcripts are kept for ${counted("en", days, "day", "days")}. Their recordings count as stored until then.`,
  },
  noBin: {
    is: "Þjónustan er stillt án rusls: uppskriftum er eytt undireins.",
    en: "This service has no bin: transcripts are deleted at once.",
  },
  none: { is: "Ruslið er tómt", en: "The bin is empty" },
  noneNext: {
    is: "Uppskriftir sem er eytt standa hér, og þær má endurheimta.",
    en: "Deleted transcripts appear here, and can be restored.",
  },
  untitled: { is: "Án titils", en: "Untitled" },
  deletedBy: {
    is: (date: string, name: string) => (name === "" ? `eytt ${date}` : `eytt ${date}: ${name}`),
    en: (date: string, name: string) =>
      name === "" ? `deleted ${date}` : `deleted ${date} by ${name}`,
  },
  until: {
    is: (date: string) => `hverfur ${date}`,
    en: (date: string) => `gone on ${date}`,
  },
  restore: { is: "Endurheimta", en: "Restore" },
  restoreLabel: {
    is: (subject: string) => `Endurheimta „${subject}“`,
    en: (subject: string) => `Restore “${subject}”`,
  },
  deleteNow: { is: "Eyða núna", en: "Delete now" },
  deleteNowLabel: {
    is: (subject: string) => `Eyða núna: „${subject}“`,
    en: (subject: string) => `Delete now: “${subject}”`,
  },
  question: {
    is: "Uppskriftin hverfur með öllum útgáfum sínum og upptökunni. Það verður ekki tekið aftur.",
    en: "The transcript is deleted with all its versions and the recording. This cannot be undone.",
  },
  deleted: {
    is: (subject: string) => `„${subject}“ var eytt.`,
    en: (subject: string) => `“${subject}” was deleted.`,
  },
  more: { is: "Sýna fleiri", en: "Show more" },
} as const;
