import { counted } from "./counted.ts";
import type { Language } from "./language.tsx";
import { numberText } from "./numbers.ts";

/** Texts of the page of jobs. */
export const jobsText = {
  sub: {
    is: "Upptökur sem eru að verða að uppskriftum.",
    en: "Recordings on their way to become transcripts.",
  },
  newJob: { is: "Ný uppskrift", en: "New transcript" },
  onTheirWay: { is: "Skrár á leiðinni", en: "Files on their way" },
  list: { is: "Verk, þau nýjustu efst", en: "Jobs, newest first" },
  more: { is: "Sýna eldri verk", en: "Show older jobs" },
  loadingMore: { is: "Sæki eldri verk…", en: "Loading older jobs…" },
  untitled: { is: "Án titils", en: "Untitled" },

  emptyTitle: { is: "Engin verk enn", en: "There are no jobs yet" },
  emptyNext: {
    is: "Dragðu upptöku hingað, hljóð eða myndskeið, og þú færð hana skrifaða upp. Það má líka velja skrá eða gefa upp slóð.",
    en: "Drag a recording here, sound or film, to have it transcribed. You can also choose a file, or give the URL of one.",
  },
  emptyReadOnly: {
    is: "Þú mátt skoða verk en ekki búa þau til. Eigandi reikningsins getur breytt því.",
    en: "You may look at jobs, but not make them. An owner of the account can change that.",
  },
  chooseFiles: { is: "Velja skrár", en: "Choose files" },
  giveUrl: { is: "Gefa upp slóð", en: "Give a URL" },

  waiting: { is: "Bíður", en: "Waiting" },
  running: {
    is: (percent: number) => `Skrifa upp, ${percent} %`,
    en: (percent: number) => `Transcribing, ${percent}%`,
  },
  progressOf: {
    is: (subject: string) => `Framvinda: ${subject}`,
    en: (subject: string) => `Progress: ${subject}`,
  },
  ready: { is: "Uppskrift tilbúin", en: "Transcript ready" },
  cancelled: { is: "Hætt við", en: "Cancelled" },
  cancel: { is: "Hætta við", en: "Cancel" },
  cancelOf: {
    is: (subject: string) => `Hætta við: ${subject}`,
    en: (subject: string) => `Cancel: ${subject}`,
  },
  cancelQuestion: {
    is: (percent: number) => `Það sem komið er (${percent} %) tapast. Viltu hætta við?`,
    en: (percent: number) => `What is done (${percent}%) will be lost. Cancel it?`,
  },
  cancelYes: { is: "Já, hætta við", en: "Yes, cancel" },
  cancelNo: { is: "Nei, halda áfram", en: "No, go on" },
  tryAgainOf: {
    is: (subject: string) => `Reyna aftur: ${subject}`,
    en: (subject: string) => `Try again: ${subject}`,
  },
  triedAgain: { is: "Reynt aftur", en: "Tried again" },
  submitted: {
    is: (subject: string) => `${subject} bíður í röðinni.`,
    en: (subject: string) => `${subject} is in the queue.`,
  },
  succeeded: {
    is: (subject: string) => `Uppskrift tilbúin: ${subject}`,
    en: (subject: string) => `Transcript ready: ${subject}`,
  },
  failed: {
    is: (subject: string, why: string) => `Uppskrift mistókst: ${subject}. ${why}`,
    en: (subject: string, why: string) => `Transcription failed: ${subject}. ${why}`,
  },

  upQueued: { is: "Bíður eftir skránum á undan", en: "Waits for the files before it" },
  upSending: {
    is: (sent: string, total: string) => `${sent} af ${total}`,
    en: (sent: string, total: string) => `${sent} of ${total}`,
  },
  upSpeed: { is: (speed: string) => `${speed} á sek.`, en: (speed: string) => `${speed}/s` },
  upLeft: { is: (span: string) => `${span} eftir`, en: (span: string) => `${span} left` },
  upOffline: {
    is: "Sambandið rofnaði. Skráin er hér enn og fer aftur af stað þegar það kemst á.",
    en: "The connection is gone. The file is still here, and goes again when it is back.",
  },
  upWaiting: { is: "Ég reyni aftur innan skamms.", en: "I try again in a moment." },
  upSubmitting: { is: "Skráin er komin til skila", en: "The file has arrived" },
  tryNow: { is: "Reyna núna", en: "Try now" },
  removeUpload: { is: "Fjarlægja", en: "Remove" },
  keepOpen: {
    is: "Hafðu gluggann opinn meðan skrár eru á leiðinni. Þú mátt fara á aðrar síður hér inni.",
    en: "Keep this window open while files are on their way. You can go to other pages in here.",
  },
} as const;

/** "íslenska", "Icelandic"; the code itself where there is no name of ours. */
export function languageName(language: Language, code: string): string {
  const names: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
    is: { is: "íslenska", en: "Icelandic" },
    en: { is: "enska", en: "English" },
  };
  return names[code.slice(0, 2).toLowerCase()]?.[language] ?? code;
}

/** Texts of the form for a new job. */
export const newJobText = {
  title: { is: "Ný uppskrift", en: "New transcript" },
  way: { is: "Hvar er upptakan?", en: "Where is the recording?" },
  wayFiles: { is: "Skrá á tækinu", en: "A file on this device" },
  wayUrl: { is: "Slóð á netinu", en: "A URL" },
  dropHere: {
    is: "Dragðu upptökur hingað eða hvert sem er á síðuna, eða",
    en: "Drag recordings here or anywhere on the page, or",
  },
  chooseFiles: { is: "veldu skrár", en: "choose files" },
  formats: {
    is: "Hljóð eða myndskeið: MP3, WAV, M4A, FLAC, MP4, MOV og flest annað.",
    en: "Sound or film: MP3, WAV, M4A, FLAC, MP4, MOV and most others.",
  },
  noFiles: { is: "Veldu skrá, eða dragðu hana hingað.", en: "Choose a file, or drag it here." },
  files: { is: "Skrár sem þú valdir", en: "Files that you chose" },
  subject: { is: "Titill", en: "Title" },
  audio: { is: "hljóð", en: "sound" },
  video: { is: "myndskeið", en: "film" },
  unknown: {
    is: "óþekkt gerð; þjónustan athugar hvort þetta sé upptaka",
    en: "unknown kind; the service will see whether it is a recording",
  },
  notMedia: {
    is: "Þetta er ekki upptaka. Fjarlægðu skrána og veldu hljóð eða myndskeið.",
    en: "This is no recording. Remove the file, and choose sound or film.",
  },
  emptyFile: {
    is: "Skráin er tóm. Fjarlægðu hana og veldu aðra.",
    en: "The file is empty. Remove it, and choose another.",
  },
  tooLarge: {
    is: (max: string) => `Skráin er of stór: þjónustan tekur mest við ${max}.`,
    en: (max: string) => `The file is too large: the service takes ${max} at most.`,
  },
  removeFile: {
    is: (name: string) => `Fjarlægja ${name}`,
    en: (name: string) => `Remove ${name}`,
  },
  remove: { is: "Fjarlægja", en: "Remove" },
  url: { is: "Slóð", en: "URL" },
  urlHint: {
    is: "Slóð skráarinnar sjálfrar, sem virkar án innskráningar.",
    en: "Of the file itself, and one that works without signing in.",
  },
  language: { is: "Hvaða mál er talað?", en: "What is spoken?" },
  /** The name of a language where it stands alone. */
  spoken: { is: capitalized, en: capitalized },
  more: { is: "Lýsing og efnisorð", en: "Description and keywords" },
  description: { is: "Lýsing", en: "Description" },
  keywords: { is: "Efnisorð", en: "Keywords" },
  keywordsHint: {
    is: (count: number, chars: number) =>
      `Með kommum á milli. Mest ${count} orð, ${chars} stafir hvert.`,
    en: (count: number, chars: number) =>
      `With commas between. At most ${count} of them, ${chars} characters each.`,
  },
  dictation: { is: "Þetta var lesið fyrir", en: "This was dictated" },
  dictationHint: {
    is: "Merkt þeim sem lesa uppskriftina: textinn var sagður til að vera skrifaður.",
    en: "A mark for those who read the transcript: the text was said to be written down.",
  },
  charsMax: {
    is: (max: number) => `Mest ${numberText("is", max)} stafir.`,
    en: (max: number) => `At most ${numberText("en", max)} characters.`,
  },
  tooLong: {
    is: (chars: number, max: number) =>
      `${counted("is", chars, "stafur", "stafir")}; mest ${numberText("is", max)} komast fyrir.`,
    en: (chars: number, max: number) =>
      `${counted("en", chars, "character", "characters")}; at most ${numberText("en", max)} fit.`,
  },
  submit: { is: "Skrifa upp", en: "Transcribe" },
  close: { is: "Loka", en: "Close" },
} as const;

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
