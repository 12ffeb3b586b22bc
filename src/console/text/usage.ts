import { numberText } from "./numbers.ts";

/** Texts of the page of usage, and of limits. */
export const usageText = {
  sub: {
    is: "Hljóð og köll eftir dögum, mánuðum, lyklum og fólki. Dagar eru í UTC.",
    en: "Audio and requests by day, month, key and person. Days are in UTC.",
  },
  month: { is: "Mánuður", en: "Month" },
  audio: { is: "Hljóð", en: "Audio" },
  requests: { is: "Köll frá forritum", en: "Requests by programs" },
  console: { is: "Köll frá þessu viðmóti", en: "Requests by this console" },
  byDay: { is: "Eftir dögum", en: "By day" },
  byMonth: { is: "Eftir mánuðum", en: "By month" },
  byKey: { is: "Eftir lyklum", en: "By key" },
  byKeyHint: {
    is: "„Annað“ er fólk sem skráir sig inn, og notkun sem ekki var talin á lykla.",
    en: "“Other” is people who sign in, and use that was not counted by key.",
  },
  byPerson: { is: "Eftir fólki", en: "By person" },
  byPersonHint: {
    is: "Notkun í þessu viðmóti og með lyklum sem viðkomandi bjó til.",
    en: "Use in this console, and with the keys that the person created.",
  },
  person: { is: "Nafn", en: "Person" },
  noPerson: { is: "Lyklar án eiganda", en: "Keys that no person created" },
  removedPerson: { is: "Fólk sem var fjarlægt", en: "Removed person" },
  csvPeople: { is: "Sækja fólk (CSV)", en: "Download people (CSV)" },
  day: { is: "Dagur", en: "Day" },
  key: { is: "Lykill", en: "Key" },
  live: { is: "Beint", en: "Live" },
  short: { is: "Stutt köll", en: "Short requests" },
  jobs: { is: "Verk", en: "Jobs" },
  total: { is: "Samtals", en: "Total" },
  other: { is: "Annað", en: "Other" },
  revoked: { is: "Afturkallaðir lyklar", en: "Revoked keys" },
  none: { is: "Engin notkun í þessum mánuði.", en: "No use in this month." },
  csvDays: { is: "Sækja daga (CSV)", en: "Download days (CSV)" },
  csvMonths: { is: "Sækja mánuði (CSV)", en: "Download months (CSV)" },
  csvKeys: { is: "Sækja lykla (CSV)", en: "Download keys (CSV)" },

  limits: { is: "Mörk", en: "Limits" },
  limitsNext: {
    is: "Rekstraraðili þjónustunnar setur mörkin.",
    en: "The operator of the service sets the limits.",
  },
  limitOf: {
    requestsPerMinute: { is: "Köll síðustu mínútu", en: "Requests in the last minute" },
    concurrentStreams: { is: "Opin streymi", en: "Open streams" },
    queuedJobs: { is: "Verk sem ekki er lokið", en: "Unfinished jobs" },
    audioSecondsPerDay: { is: "Hljóð í dag", en: "Audio today" },
    storedBytes: { is: "Geymdar upptökur", en: "Stored media" },
  },
  noLimit: {
    is: (used: string) => `${used} · engin mörk`,
    en: (used: string) => `${used} · no limit`,
  },
  ofLimit: {
    is: (used: string, limit: string) => `${used} af ${limit}`,
    en: (used: string, limit: string) => `${used} of ${limit}`,
  },
  usedPart: {
    is: (name: string, percent: number) => `${name}: ${numberText("is", percent)} % notuð`,
    en: (name: string, percent: number) => `${name}: ${numberText("en", percent)}% used`,
  },
} as const;
