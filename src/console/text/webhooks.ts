import { counted } from "./counted.ts";
import type { Problems } from "./problems.ts";

/** Texts of the pages of webhooks. */
export const webhooksText = {
  sub: {
    is: "Slóðir sem fá undirrituð skilaboð þegar verki lýkur.",
    en: "URLs that receive a signed message when a job ends.",
  },
  add: { is: "Nýr vefkrókur", en: "New webhook" },
  none: { is: "Enginn vefkrókur enn", en: "No webhooks yet" },
  noneNext: {
    is: "Vefkrókur lætur forritið þitt vita um leið og verki lýkur, svo það þarf ekki að spyrja aftur og aftur.",
    en: "A webhook notifies your program as soon as a job ends, so that it does not have to ask again and again.",
  },
  notAllowed: { is: "Vefkrókar eru í höndum eigenda", en: "Only owners can manage webhooks" },
  notAllowedNext: {
    is: "Eigendur reikningsins búa til vefkróka. Biddu einhvern þeirra um það, eða um hlutverk eiganda.",
    en: "Owners of the account create webhooks. Ask one of them to do it, or for the owner role.",
  },
  unnamed: { is: "Án nafns", en: "Unnamed" },
  allEvents: { is: "allir atburðir", en: "all events" },
  eventOf: {
    "transcriptjob.succeeded": { is: "verki lauk", en: "job succeeded" },
    "transcriptjob.failed": { is: "verk mistókst", en: "job failed" },
    "webhook.test": { is: "prófun", en: "test" },
  },
  on: { is: "virkur", en: "enabled" },
  off: { is: "óvirkur", en: "disabled" },
  created: { is: (day: string) => `gerður ${day}`, en: (day: string) => `created ${day}` },
  twoSecrets: {
    is: (when: string) => `fyrra leyndarmál undirritar líka þangað til ${when}`,
    en: (when: string) => `the previous secret also signs until ${when}`,
  },

  edit: { is: "Breyta", en: "Edit" },
  editTitle: { is: "Breyta vefkróknum", en: "Edit webhook" },
  url: { is: "Slóð", en: "URL" },
  urlHint: {
    is: "Byrjar á https://. Svarið á að vera 2xx innan 15 sekúndna.",
    en: "Begins with https://. It must answer 2xx within 15 seconds.",
  },
  urlMissing: { is: "Skrifaðu slóð.", en: "Enter a URL." },
  name: { is: "Nafn", en: "Name" },
  nameHint: {
    is: "Til minnis: hvaða forrit tekur við skilaboðunum.",
    en: "A reminder: which program receives the messages.",
  },
  nameTooLong: {
    is: "Nafnið er of langt: það má mest vera 200 stafir.",
    en: "The name is too long: the limit is 200 characters.",
  },
  events: { is: "Hverju á að segja frá?", en: "Which events?" },
  eventsAll: {
    is: "Öllu, líka því sem síðar bætist við",
    en: "All events, also those that are added later",
  },
  eventsChosen: { is: "Aðeins þessu:", en: "Only these:" },
  eventsNone: { is: "Veldu að minnsta kosti eitt.", en: "Choose at least one." },
  saved: {
    is: (name: string) => `Vefkrókurinn „${name}“ hefur verið vistaður.`,
    en: (name: string) => `The webhook “${name}” was saved.`,
  },
  create: { is: "Búa til vefkrók", en: "Create webhook" },

  secretTitle: { is: "Vistaðu leyndarmálið núna", en: "Save the secret now" },
  secretOnce: {
    is: "Leyndarmálið sést aðeins í þetta eina sinn. Forritið þitt þarf það til að sannreyna skilaboðin; glatist það má búa til nýtt.",
    en: "The secret is shown only once. Your program needs it to verify messages; if you lose it, you can create a new one.",
  },
  secret: { is: "Leyndarmál", en: "Secret" },
  secretSaved: { is: "Ég hef vistað leyndarmálið", en: "I have saved the secret" },
  rotate: { is: "Nýtt leyndarmál", en: "New secret" },
  rotateTitle: { is: "Búa til nýtt leyndarmál?", en: "Create a new secret?" },
  rotateNext: {
    is: "Skilaboð bera þá tvær undirskriftir í sólarhring, með nýja leyndarmálinu og því fyrra, svo forritið missir ekki af neinu á meðan þú skiptir.",
    en: "For 24 hours, messages have two signatures, with the new secret and with the previous one, so that your program misses nothing while you change it.",
  },
  rotateAgain: {
    is: "Skipt var fyrir innan við sólarhring: leyndarmálið þar á undan hættir strax að gilda.",
    en: "The last change was less than 24 hours ago: the secret before it becomes invalid immediately.",
  },

  disable: { is: "Gera óvirkan", en: "Disable" },
  enable: { is: "Gera virkan", en: "Enable" },
  disabledNow: { is: "Vefkrókurinn er óvirkur.", en: "The webhook is disabled." },
  enabledNow: { is: "Vefkrókurinn er virkur.", en: "The webhook is enabled." },
  disabledNote: {
    is: "Vefkrókurinn er óvirkur og sendir ekkert. Verk sem lýkur á meðan verður ekki sagt frá.",
    en: "The webhook is disabled and sends nothing. Jobs that end meanwhile create no messages.",
  },
  disabledBecause: {
    is: (reason: string) => `Þjónustan gerði hann óvirkan: ${reason}`,
    en: (reason: string) => `The service disabled it: ${reason}`,
  },
  remove: { is: "Eyða", en: "Delete" },
  removeTitle: {
    is: (name: string) => `Eyða vefkróknum „${name}“?`,
    en: (name: string) => `Delete the webhook “${name}”?`,
  },
  removeNext: {
    is: "Skilaboð sem bíða verða ekki send, og listinn yfir sendingar hverfur. Þetta er ekki hægt að taka aftur.",
    en: "Waiting messages are not sent, and the list of deliveries is deleted. This cannot be undone.",
  },
  removed: {
    is: (name: string) => `Vefkróknum „${name}“ hefur verið eytt.`,
    en: (name: string) => `The webhook “${name}” was deleted.`,
  },

  test: { is: "Senda prófun", en: "Send a test" },
  testSent: { is: "Prófun er á leiðinni.", en: "A test is being sent." },
  deliveries: { is: "Sendingar", en: "Deliveries" },
  deliveriesNext: {
    is: "Þær nýjustu efst. Geymdar í 30 daga.",
    en: "Newest first. Kept for 30 days.",
  },
  deliveriesNone: {
    is: "Ekkert hefur verið sent enn. Sendu prófun til að sjá hvort slóðin svarar.",
    en: "Nothing was sent yet. Send a test to see whether the URL answers.",
  },
  stateOf: {
    PENDING: { is: "Bíður", en: "Waiting" },
    DELIVERED: { is: "Afhent", en: "Delivered" },
    FAILED: { is: "Mistókst", en: "Failed" },
  },
  attempts: {
    is: (count: number) => counted("is", count, "tilraun", "tilraunir"),
    en: (count: number) => counted("en", count, "attempt", "attempts"),
  },
  lastAttempt: {
    is: (when: string) => `síðast reynt ${when}`,
    en: (when: string) => `last attempt ${when}`,
  },
  nextAttempt: {
    is: (when: string) => `næst reynt ${when}`,
    en: (when: string) => `next attempt ${when}`,
  },
  answered: {
    is: (status: number) => `svar ${status}`,
    en: (status: number) => `answer ${status}`,
  },
  redeliver: { is: "Senda aftur", en: "Send again" },
  redeliverOf: {
    is: (what: string) => `Senda aftur: ${what}`,
    en: (what: string) => `Send again: ${what}`,
  },
  redelivered: { is: "Skilaboðin eru send aftur.", en: "The message is being sent again." },
  more: { is: "Sýna eldri sendingar", en: "Show older deliveries" },
  all: { is: "Allir vefkrókar", en: "All webhooks" },
} as const;

/** Problems that only webhooks have. */
export const webhookProblems: Problems = {
  TOO_MANY_WEBHOOKS: {
    sentence: {
      is: "Reikningurinn hefur 20 vefkróka, og fleiri má hann ekki hafa.",
      en: "The account has reached its limit of 20 webhooks.",
    },
    next: { is: "Eyddu einum og reyndu aftur.", en: "Delete one and try again." },
  },
  TOO_MANY_TESTS: {
    sentence: {
      is: "10 prófanir bíða þegar eftir svari.",
      en: "10 tests already wait to be accepted.",
    },
    next: {
      is: "Skoðaðu hvers vegna slóðin tekur ekki við þeim.",
      en: "Find out why the URL does not accept them.",
    },
  },
  WEBHOOK_DISABLED: {
    sentence: { is: "Vefkrókurinn er óvirkur.", en: "The webhook is disabled." },
    next: { is: "Gerðu hann virkan fyrst.", en: "Enable it first." },
  },
  404: {
    sentence: { is: "Vefkrókurinn er ekki lengur til.", en: "The webhook no longer exists." },
    next: { is: "Einhver hefur þegar eytt honum.", en: "It has already been deleted." },
  },
};
