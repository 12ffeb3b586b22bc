import { counted } from "./counted.ts";
import { jobNotificationText } from "./job-notifications.ts";
import { capital } from "./listed.ts";
import { numberText } from "./numbers.ts";

/** Texts of the jobs page. */
export const jobsText = {
  open: { is: "Opna", en: "Open" },
  remove: { is: "Fjarlægja", en: "Remove" },
  removed: {
    is: (subject: string) => `Verkið var fjarlægt: ${subject}`,
    en: (subject: string) => `Job removed: ${subject}`,
  },
  removeFinished: { is: "Fjarlægja lokin verk", en: "Remove finished" },
  finishedRemoved: {
    is: (count: number) =>
      `Tekið af listanum: ${counted("is", count, "verk", "verk")}. Uppskriftirnar eru áfram til.`,
    en: (count: number) =>
      `Removed from the list: ${counted("en", count, "job", "jobs")}. The transcripts stay.`,
  },
  finishedBack: { is: "Verkin eru aftur á listanum.", en: "The jobs are back on the list." },
  sub: {
    is: "Upptökur sem eru að verða að uppskriftum.",
    en: "Recordings that are being transcribed.",
  },
  newJob: { is: "Ný uppskrift", en: "New transcript" },
  uploads: { is: "Skrár í sendingu", en: "Uploads" },
  interrupted: { is: "Sendingar sem rofnuðu", en: "Interrupted uploads" },
  chooseAgain: {
    is: "Veldu sömu skrá aftur og sendingin heldur áfram þar sem hún rofnaði. Það sem er komið geymist í sólarhring.",
    en: "Choose the same file again, and its upload continues where it stopped. What has arrived is kept for a day.",
  },
  discard: { is: "Hætta við", en: "Discard" },
  list: { is: "Verk, þau nýjustu efst", en: "Jobs, newest first" },
  more: { is: "Sýna eldri verk", en: "Show older jobs" },
  loadingMore: { is: "Sæki eldri verk…", en: "Loading older jobs…" },
  untitled: { is: "Án titils", en: "Untitled" },

  emptyTitle: { is: "Engin verk enn", en: "No jobs yet" },
  emptyNext: {
    is: "Dragðu upptöku hingað, hljóð eða myndskeið, og þú færð hana skrifaða upp. Það má líka velja skrá eða gefa upp slóð.",
    en: "Drag an audio or video file here to transcribe it. You can also choose a file or enter a URL.",
  },
  emptyReadOnly: {
    is: "Þú mátt skoða verk en ekki búa þau til. Eigandi reikningsins getur breytt því.",
    en: "You can view jobs but not create them. An owner of the account can change that.",
  },
  chooseFiles: { is: "Velja skrár", en: "Choose files" },
  giveUrl: { is: "Gefa upp slóð", en: "Enter a URL" },

  waiting: { is: "Bíður", en: "Waiting" },
  waitingForContent: { is: "Bíður eftir upptökunni", en: "Waiting for the recording" },
  before: {
    is: (count: number) =>
      count === 0 ? "næst í röðinni" : `um ${counted("is", count, "verk", "verk")} á undan`,
    en: (count: number) =>
      count === 0 ? "next in the queue" : `about ${counted("en", count, "job", "jobs")} before it`,
  },
  newVersion: { is: "Ný útgáfa", en: "New version" },
  running: {
    is: (percent: number) => `Skrifa upp, ${percent} %`,
    en: (percent: number) => `Transcribing, ${percent}%`,
  },
  progressOf: {
    is: (subject: string) => `Framvinda: ${subject}`,
    en: (subject: string) => `Progress: ${subject}`,
  },
  notify: {
    is: "Láta vita þegar verki lýkur á meðan flipinn sést ekki",
    en: "Notify me when a job ends while this tab is hidden",
  },
  notifyRefused: {
    is: "Vafrinn leyfir ekki tilkynningar frá þessari síðu. Leyfðu þær í stillingum hans.",
    en: "The browser does not allow notifications from this page. Allow them in its settings.",
  },
  ready: jobNotificationText.ready,
  deleted: { is: "Uppskriftinni var eytt", en: "The transcript was deleted" },
  cancelled: { is: "Hætt við", en: "Cancelled" },
  cancel: { is: "Hætta við", en: "Cancel" },
  cancelOf: {
    is: (subject: string) => `Hætta við: ${subject}`,
    en: (subject: string) => `Cancel: ${subject}`,
  },
  cancelQuestion: {
    is: (percent: number) => `Það sem komið er (${percent} %) tapast. Viltu hætta við?`,
    en: (percent: number) => `The progress so far (${percent}%) will be lost. Cancel the job?`,
  },
  cancelYes: { is: "Já, hætta við", en: "Yes, cancel" },
  cancelNo: { is: "Nei, halda áfram", en: "No, continue" },
  tryAgainOf: {
    is: (subject: string) => `Reyna aftur: ${subject}`,
    en: (subject: string) => `Try again: ${subject}`,
  },
  triedAgain: { is: "Reynt aftur", en: "Submitted again" },
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

  upQueued: { is: "Bíður eftir skránum á undan", en: "Waiting for other uploads" },
  upSending: {
    is: (sent: string, total: string) => `${sent} af ${total}`,
    en: (sent: string, total: string) => `${sent} of ${total}`,
  },
  upSpeed: { is: (speed: string) => `${speed} á sek.`, en: (speed: string) => `${speed}/s` },
  upLeft: { is: (span: string) => `${span} eftir`, en: (span: string) => `${span} left` },
  upOffline: {
    is: "Sambandið rofnaði. Skráin er hér enn og sendingin heldur áfram þegar það kemst á.",
    en: "The connection was lost. The file is still here; the upload will resume automatically.",
  },
  upWaiting: { is: "Reynt aftur innan skamms.", en: "Trying again in a moment." },
  upSubmitting: { is: "Skráin er komin til skila", en: "Uploaded" },
  tryNow: { is: "Reyna núna", en: "Try now" },
  removeUpload: { is: "Fjarlægja", en: "Remove" },
  keepOpen: {
    is: "Hafðu gluggann opinn meðan skrár eru í sendingu. Þú mátt fara á aðrar síður hér inni.",
    en: "Keep this window open while files are uploading. You can visit other pages of the console.",
  },
} as const;

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
    en: "Audio or video: MP3, WAV, M4A, FLAC, MP4, MOV and most other formats.",
  },
  noFiles: { is: "Veldu skrá, eða dragðu hana hingað.", en: "Choose a file or drag it here." },
  files: { is: "Skrár sem þú valdir", en: "Chosen files" },
  subject: { is: "Titill", en: "Title" },
  audio: { is: "hljóð", en: "audio" },
  video: { is: "myndskeið", en: "video" },
  unknown: {
    is: "óþekkt gerð; þjónustan athugar hvort þetta sé upptaka",
    en: "unknown type; the service will check whether it is a recording",
  },
  notMedia: {
    is: "Þetta er ekki upptaka. Fjarlægðu skrána og veldu hljóð eða myndskeið.",
    en: "This is not a recording. Remove the file and choose audio or video.",
  },
  emptyFile: {
    is: "Skráin er tóm. Fjarlægðu hana og veldu aðra.",
    en: "The file is empty. Remove it and choose another.",
  },
  tooLarge: {
    is: (max: string) => `Skráin er of stór: þjónustan tekur mest við ${max}.`,
    en: (max: string) => `The file is too large: the limit is ${max}.`,
  },
  removeFile: {
    is: (name: string) => `Fjarlægja ${name}`,
    en: (name: string) => `Remove ${name}`,
  },
  remove: { is: "Fjarlægja", en: "Remove" },
  url: { is: "Slóð", en: "URL" },
  urlHint: {
    is: "Slóð skráarinnar sjálfrar, sem virkar án innskráningar.",
    en: "The URL of the file itself. It must work without signing in.",
  },
  language: { is: "Hvaða mál er talað?", en: "Which language is spoken?" },
  languageOfFile: {
    is: (name: string) => `Mál í ${name}`,
    en: (name: string) => `Language of ${name}`,
  },
  sameLanguage: {
    is: (name: string) => `Sama mál og hér að neðan (${name})`,
    en: (name: string) => `Same language as below (${name})`,
  },
  modelUnused: {
    is: (model: string) =>
      `Líkanið ${model} kann ekki málið á þessari skrá. Annað líkan er valið sjálfkrafa.`,
    en: (model: string) =>
      `The model ${model} does not have the language of this file. Another model is chosen automatically.`,
  },
  wordsUnused: {
    is: "Orðin sem búast má við eru ekki notuð fyrir þessa skrá, því að hún er á öðru máli.",
    en: "The words to expect are not used for this file, because it is in another language.",
  },
  wordsNotTaken: {
    is: "Líkanið fyrir þetta mál notar ekki orð sem búast má við.",
    en: "The model for this language does not use words to expect.",
  },
  /** The name of a language as the label of a choice. */
  spoken: { is: capital, en: capital },
  written: { is: "Með greinarmerkjum og tölustöfum", en: "With punctuation and digits" },
  writtenHint: {
    is: "Setningar byrja á stórum staf, og tölur, dagsetningar og upphæðir eru í tölustöfum. Annars koma orðin eins og þau eru sögð.",
    en: "Sentences begin with a capital, and numbers, dates and amounts are in digits. Otherwise the words are as they are spoken.",
  },
  more: { is: "Lýsing og efnisorð", en: "Description and keywords" },
  description: { is: "Lýsing", en: "Description" },
  keywords: { is: "Efnisorð", en: "Keywords" },
  keywordsHint: {
    is: (count: number, chars: number) =>
      `Með kommum á milli. Mest ${count} orð, ${chars} stafir hvert.`,
    en: (count: number, chars: number) =>
      `Separated by commas. At most ${count} keywords of ${chars} characters each.`,
  },
  dictation: { is: "Þetta var lesið fyrir", en: "This was dictated" },
  dictationHint: {
    is: "Merkt þeim sem lesa uppskriftina: textinn var sagður til að vera skrifaður.",
    en: "A note for readers of the transcript: the text was spoken to be written down.",
  },
  charsMax: {
    is: (max: number) => `Mest ${numberText("is", max)} stafir.`,
    en: (max: number) => `At most ${numberText("en", max)} characters.`,
  },
  tooLong: {
    is: (chars: number, max: number) =>
      `${counted("is", chars, "stafur", "stafir")}; mest ${numberText("is", max)} komast fyrir.`,
    en: (chars: number, max: number) =>
      `${counted("en", chars, "character", "characters")}; the limit is ${numberText("en", max)}.`,
  },
  submit: { is: "Skrifa upp", en: "Transcribe" },
  close: { is: "Loka", en: "Close" },
} as const;
