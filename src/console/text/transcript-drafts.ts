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
      `Annar vafri geymir önnur drög að textanum á þjóninum, frá ${when}. Þau eru óhreyfð.`,
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
  notStored: {
    is: "Hvorki vafrinn né þjónustan gátu geymt drögin, svo að ekki var skipt. Vistaðu útgáfu fyrst.",
    en: "Neither this browser nor the service could store the drafts, so nothing was changed. Save a version first.",
  },
} as const;
