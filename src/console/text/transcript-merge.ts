/** Texts of the page that shows a transcript, when others have changed it too. */
export const mergeText = {
  title: { is: "Aðrir hafa breytt sömu orðum", en: "Others have changed the same words" },
  explanation: {
    is: "Allt annað hefur verið sameinað. Veldu hvað á að standa á hverjum stað; þá verður vistað.",
    en: "Everything else was merged. Choose what each place shall be; then the text is saved.",
  },
  clashName: {
    is: (at: number, of: number) => `Árekstur ${at} af ${of}`,
    en: (at: number, of: number) => `Clash ${at} of ${of}`,
  },
  mine: { is: "Mitt:", en: "Mine:" },
  theirs: { is: "Þeirra:", en: "Theirs:" },
  both: { is: "Hvort tveggja:", en: "Both:" },
  nothing: { is: "(ekkert)", en: "(nothing)" },
  play: { is: (time: string) => `Spila frá ${time}`, en: (time: string) => `Play from ${time}` },
  left: {
    is: (count: number) => (count === 0 ? "Allt er valið." : `${count} eftir.`),
    en: (count: number) => (count === 0 ? "Everything is chosen." : `${count} left.`),
  },
  save: { is: "Sameina og vista", en: "Merge and save" },
} as const;
