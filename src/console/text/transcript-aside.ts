import { counted, isOne } from "./counted.ts";
import { capital, listed } from "./listed.ts";
import { numberText } from "./numbers.ts";

/** Texts of a transcript's aside: speakers, versions, downloads and metadata. */
export const asideText = {
  speakers: { is: "Mælendur", en: "Speakers" },
  speaker: { is: (id: string) => `Mælandi ${id}`, en: (id: string) => `Speaker ${id}` },
  noSpeakers: {
    is: "Ekki er vitað hver talar í þessari upptöku.",
    en: "The speakers of this recording are unknown.",
  },
  rename: {
    is: (name: string) => `Breyta nafninu ${name}`,
    en: (name: string) => `Rename ${name}`,
  },
  speakerName: {
    is: (id: string) => `Nafn mælanda ${id}`,
    en: (id: string) => `Name of speaker ${id}`,
  },
  nameHint: {
    is: "Enter vistar, Escape hættir við.",
    en: "Enter saves, Escape cancels.",
  },
  renamed: {
    is: (name: string) => `Nafnið ${name} er vistað.`,
    en: (name: string) => `The name ${name} was saved.`,
  },
  nameChangedElsewhere: {
    is: (name: string) => `Nafninu var breytt annars staðar á meðan. Þar stendur nú „${name}“.`,
    en: (name: string) => `The name was changed elsewhere in the meantime. It is now “${name}”.`,
  },
  noName: { is: "ekkert nafn", en: "no name" },
  saveMine: { is: "Vista mitt samt", en: "Save mine anyway" },
  keepTheirs: { is: "Halda hinu", en: "Keep theirs" },

  versions: { is: "Útgáfur", en: "Versions" },
  transcribeAgain: { is: "Skrifa upp aftur", en: "Transcribe again" },
  olderVersions: { is: "Sýna eldri útgáfur", en: "Show older versions" },
  fromRecognizer: { is: "Frá talgreini", en: "From speech recognition" },
  firstVersion: { is: "Fyrsta útgáfa", en: "First version" },
  someVersion: { is: "Útgáfa", en: "Version" },
  /** How a version was made, and by whom; "" if it is not known by whom. */
  made: {
    RECOGNIZED: {
      is: (by: string) => (by === "" ? "Greint sjálfvirkt" : `Greint sjálfvirkt fyrir: ${by}`),
      en: (by: string) => (by === "" ? "Recognized" : `Recognized for ${by}`),
    },
    EDITED: {
      is: (by: string) => (by === "" ? "Breytt" : `${by} breytti`),
      en: (by: string) => (by === "" ? "Edited" : `Edited by ${by}`),
    },
    IMPORTED: {
      is: (by: string) => (by === "" ? "Texti sendur inn" : `${by} sendi textann inn`),
      en: (by: string) => (by === "" ? "Text submitted" : `Text submitted by ${by}`),
    },
    MERGED: {
      is: (by: string) =>
        by === "" ? "Breytt og fellt saman við aðra útgáfu" : `${by} felldi saman við aðra útgáfu`,
      en: (by: string) =>
        by === "" ? "Merged with another version" : `Merged with another version by ${by}`,
    },
    RESTORED: {
      is: (by: string) =>
        by === "" ? "Eldri útgáfa endurheimt" : `${by} endurheimti eldri útgáfu`,
      en: (by: string) =>
        by === "" ? "Earlier version restored" : `Earlier version restored by ${by}`,
    },
    ALIGNED: {
      is: (by: string) =>
        by === "" ? "Orðin tímasett eftir hljóðinu" : `${by} lét tímasetja orðin eftir hljóðinu`,
      en: (by: string) =>
        by === "" ? "Words aligned to the audio" : `Words aligned to the audio for ${by}`,
    },
  },
  changed: {
    is: (what: readonly string[]) => capital(`${listed("is", what)} breytt`),
    en: (what: readonly string[]) => capital(`${listed("en", what)} changed`),
  },
  unchanged: { is: "Ekkert breyttist", en: "Nothing changed" },
  changedText: { is: "texta", en: "text" },
  changedTimes: { is: "tímum", en: "times" },
  changedBreaks: { is: "málsgreinum", en: "paragraphs" },
  changedTurns: { is: "mælendum", en: "speakers" },
  changedNames: { is: "nöfnum", en: "names" },
  changedSubject: { is: "titli", en: "title" },
  changedDescription: { is: "lýsingu", en: "description" },
  changedKeywords: { is: "efnisorðum", en: "keywords" },
  changedOther: { is: "öðrum upplýsingum", en: "other details" },
  added: {
    is: (count: number) =>
      `${numberText("is", count)} orð ${isOne("is", count) ? "bættist" : "bættust"} við`,
    en: (count: number) => `${counted("en", count, "word", "words")} added`,
  },
  removed: {
    is: (count: number) =>
      `${numberText("is", count)} orð ${isOne("is", count) ? "féll" : "féllu"} út`,
    en: (count: number) => `${counted("en", count, "word", "words")} removed`,
  },
  retimed: {
    is: (count: number) =>
      `${numberText("is", count)} orð ${isOne("is", count) ? "færðist" : "færðust"} í tíma`,
    en: (count: number) => `${counted("en", count, "word", "words")} moved in time`,
  },
  respoken: {
    is: (count: number) =>
      `${numberText("is", count)} orð ${isOne("is", count) ? "fékk" : "fengu"} annan mælanda`,
    en: (count: number) => `${counted("en", count, "word", "words")} given another speaker`,
  },
  resegmented: {
    is: (count: number) => `málsgreinaskil breyttust við ${numberText("is", count)} orð`,
    en: (count: number) => `paragraph breaks moved at ${counted("en", count, "word", "words")}`,
  },
  whatChanged: { is: "Hvað breyttist", en: "What changed" },
  restore: { is: "Endurheimta", en: "Restore" },

  download: { is: "Sækja", en: "Download" },
  downloadAs: {
    is: (format: string) => `Sækja: ${format}`,
    en: (format: string) => `Download: ${format}`,
  },
  formats: {
    SRT: "SRT",
    VTT: "VTT",
    VTT_PAINT_ON: { is: "VTT, orð fyrir orð", en: "VTT, word by word" },
    AUDACITY_LABELS: { is: "Merki fyrir Audacity", en: "Audacity labels" },
    TEXT: { is: "Texti", en: "Text" },
    DOCX: "Word",
    ODT: "ODT",
    JSON: "JSON",
  },
  fileChoices: { is: "Hvað skrárnar sýna", en: "What the files show" },
  copyText: { is: "Afrita texta", en: "Copy text" },
  textCopied: { is: "Textinn var afritaður.", en: "Text copied." },
  textNotCopied: {
    is: "Vafrinn leyfði ekki afritun. Sæktu textann í staðinn.",
    en: "The browser did not allow copying. Download the text instead.",
  },
  examples: { is: "Sækja úr forriti", en: "Use from a program" },
  recording: { is: "Upptaka", en: "Recording" },
  downloaded: {
    is: (name: string) => `Skráin ${name} er komin í niðurhal vafrans.`,
    en: (name: string) => `The file ${name} is in your browser's downloads.`,
  },

  details: { is: "Um upptökuna", en: "About the recording" },
  origin: { is: "Uppruni", en: "Source" },
  originUpload: { is: "Skrá sem var hlaðið upp", en: "Uploaded file" },
  originUri: { is: "Sótt af vefslóð", en: "Fetched from a URL" },
  originLive: { is: "Tekið upp í vafra", en: "Recorded live in the console" },
  originUser: { is: "Texti sem var sendur inn", en: "Submitted text" },
  fileName: { is: "Skrá", en: "File" },
  address: { is: "Vefslóð", en: "URL" },
  edit: { is: "Breyta", en: "Edit" },

  remove: { is: "Eyða uppskriftinni", en: "Delete transcript" },
} as const;
