/** Texts of the palette of speakers in the editor. */
export const editSpeakersText = {
  title: { is: "Mælandi málsgreinarinnar", en: "Speaker of the paragraph" },
  titleOfAll: {
    is: (name: string) => `Mælandi allra málsgreina: ${name}`,
    en: (name: string) => `Speaker of all paragraphs: ${name}`,
  },
  open: { is: "Mælandi", en: "Speaker" },
  hint: {
    is: "Ýttu á tölustaf eða bókstaf til að velja.",
    en: "Press a digit or a letter to choose.",
  },
  speakers: { is: "Mælendur", en: "Speakers" },
  noSpeaker: { is: "Óþekktur", en: "Unknown" },
  unknownSpeaker: { is: "Óþekktur mælandi", en: "Unknown speaker" },
  sameSpeaker: {
    is: (name: string) => `Mælandi: ${name}`,
    en: (name: string) => `Speaker: ${name}`,
  },
  added: { is: "Nafn nýs mælanda", en: "Name of a new speaker" },
  add: { is: "Bæta við", en: "Add" },
  everywhere: {
    is: "Í öllum málsgreinum þessa mælanda",
    en: "In all paragraphs of this speaker",
  },
  rename: {
    is: (name: string) => `Breyta nafni: ${name}`,
    en: (name: string) => `Rename: ${name}`,
  },
  renameShort: { is: "Breyta nafni", en: "Rename" },
  newName: {
    is: (name: string) => `Nýtt nafn: ${name}`,
    en: (name: string) => `New name: ${name}`,
  },
  save: { is: "Breyta", en: "Rename" },
} as const;
