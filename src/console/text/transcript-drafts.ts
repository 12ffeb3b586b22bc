/** Texts of the page that shows a transcript, about drafts that are not the one that is edited. */
export const draftsText = {
  unopened: {
    is: (when: string) =>
      `Óvistuð drög frá ${when} eru geymd, en ekki náðist í útgáfuna sem þau breyta.`,
    en: (when: string) =>
      `An unsaved draft of ${when} is kept, but the version that it changes could not be read.`,
  },
  untouched: {
    is: "Textinn opnast ekki í vinnslu á meðan, svo að drögin haldast óbreytt.",
    en: "Until then the text does not open for editing, so that the draft stays as it is.",
  },
  elsewhere: {
    is: (when: string) =>
      `Annar vafri geymir önnur drög að textanum í þjónustunni, frá ${when}. Þau eru óhreyfð.`,
    en: (when: string) =>
      `Another browser keeps another draft of this text on the service, of ${when}. It stays there.`,
  },
  waiting: {
    is: (when: string) => `Önnur drög að textanum, frá ${when}, eru geymd þar til þú ákveður þig.`,
    en: (when: string) => `Another draft of this text, of ${when}, is kept until you decide.`,
  },
  open: { is: "Opna þau í staðinn", en: "Open it instead" },
  keep: { is: "Halda þessum og geyma hin", en: "Keep this one, and store the other" },
  drop: { is: "Henda þeim", en: "Discard it" },
  nowhere: {
    is: (why: string) =>
      `Hvorki vafrinn né þjónustan geymir drögin. Vafrinn neitar að geyma gögn á þessari tölvu, og ${why}.`,
    en: (why: string) =>
      `Neither this browser nor the service keeps the draft. The browser refuses to store data on this computer, and ${why}.`,
  },
  whyNot: {
    failed: {
      is: "þjónustan svarar ekki eða tekur ekki við þeim; reynt er aftur á nokkurra sekúndna fresti",
      en: "the service does not respond or does not accept it; this page tries again every few seconds",
    },
    full: {
      is: "geymsla reikningsins í þjónustunni er full",
      en: "the account's storage on the service is full",
    },
    elsewhere: {
      is: "í þjónustunni eru önnur drög, úr öðrum vafra",
      en: "the service has another draft, of another browser",
    },
    tooLarge: {
      is: "drögin eru of stór fyrir þjónustuna",
      en: "the draft is too large for the service",
    },
  },
  beforeClosing: {
    is: "Vistaðu útgáfu eða skrá með textanum áður en þú lokar síðunni, annars glatast breytingarnar.",
    en: "Save a version, or a file with the text, before you close this page; otherwise the changes are lost.",
  },
  notStored: {
    is: "Hvorki vafrinn né þjónustan gátu geymt drögin, svo að ekki var skipt. Vistaðu útgáfu fyrst.",
    en: "Neither this browser nor the service could store the drafts, so nothing was changed. Save a version first.",
  },
} as const;
