import { counted } from "./counted.ts";

/** Texts of the dialog that transcribes a recording again. */
export const transcribeAgainText = {
  title: { is: "Skrifa upptökuna upp aftur", en: "Transcribe the recording again" },
  what: {
    is: "Úr því verður ný útgáfa af þessari uppskrift. Textinn sem hér er nú, og það sem breytt er á meðan, verður áfram til sem eldri útgáfa.",
    en: "This makes a new version of this transcript. The text that is here now, and what is edited in the meantime, stays as an earlier version.",
  },
  language: { is: "Hvaða mál er talað?", en: "Which language is spoken?" },
  words: { is: "Orð sem búast má við", en: "Words to expect" },
  wordsHint: {
    is: "Til dæmis nöfn, eitt í línu eða með kommum á milli. Orðaforði reikningsins er notaður líka.",
    en: "For example names, one on each line or separated by commas. The account\u2019s vocabulary is used too.",
  },
  model: { is: "Líkan", en: "Model" },
  notInstalled: {
    is: (model: string) => `${model} (ekki uppsett)`,
    en: (model: string) => `${model} (not installed)`,
  },
  usualModel: { is: "Sjálfvalið eftir tungumáli", en: "Automatic, by language" },
  speakers: { is: "Mælendur", en: "Speakers" },
  speakersAll: { is: "Eins margir og tala", en: "As many as there are" },
  speakersMost: {
    is: (count: number) => `Mest ${counted("is", count, "mælandi", "mælendur")}`,
    en: (count: number) => `At most ${counted("en", count, "speaker", "speakers")}`,
  },
  speakersNone: { is: "Ekki greindir í sundur", en: "Not distinguished" },
  speakersNever: {
    is: "Mælendur verða ekki greindir í sundur: ekkert líkan til þess er uppsett.",
    en: "Speakers are not distinguished: no model for that is installed.",
  },
  submit: { is: "Skrifa upp", en: "Transcribe" },
  submitted: {
    is: "Upptakan er komin í röðina. Nýja útgáfan birtist hér þegar hún er tilbúin.",
    en: "The recording is in the queue. The new version appears here when it is ready.",
  },
  waiting: { is: "Upptakan bíður í röðinni.", en: "The recording is in the queue." },
  running: {
    is: (percent: number) => `Upptakan er skrifuð upp aftur: ${percent} %.`,
    en: (percent: number) => `Transcribing the recording again: ${percent}%.`,
  },
  progress: { is: "Ný uppskrift upptökunnar", en: "Transcription of the recording" },
  done: {
    is: "Upptakan er skrifuð upp aftur, í nýrri útgáfu.",
    en: "The recording was transcribed again, in a new version.",
  },
  failed: { is: "Ekki varð til ný útgáfa.", en: "No new version was made." },
  toJobs: { is: "Ástæðan er hjá verkinu.", en: "The job has the reason." },
  withoutMedia: {
    sentence: {
      is: "Uppskriftin á enga upptöku til að skrifa upp.",
      en: "The transcript has no recording to transcribe.",
    },
    next: { is: "Bættu upptöku við hana fyrst.", en: "Add a recording to it first." },
  },
} as const;
