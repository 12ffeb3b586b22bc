/** Texts about the times of words and unclear words, while a transcript's text is edited. */
export const timesText = {
  starts: {
    is: (word: string, time: string) => `„${word}“ byrjar við ${time}.`,
    en: (word: string, time: string) => `“${word}” starts at ${time}.`,
  },
  ends: {
    is: (word: string, time: string) => `„${word}“ endar við ${time}.`,
    en: (word: string, time: string) => `“${word}” ends at ${time}.`,
  },
  startMoved: {
    is: (word: string, time: string, before: string) =>
      `„${word}“ byrjar við ${time} (áður ${before}).`,
    en: (word: string, time: string, before: string) =>
      `“${word}” starts at ${time} (was ${before}).`,
  },
  endMoved: {
    is: (word: string, time: string, before: string) =>
      `„${word}“ endar við ${time} (áður ${before}).`,
    en: (word: string, time: string, before: string) =>
      `“${word}” ends at ${time} (was ${before}).`,
  },
  stopsAtPrevious: {
    is: (word: string) => `Orðið á undan, „${word}“, er fyrir.`,
    en: (word: string) => `The previous word, “${word}”, is in the way.`,
  },
  stopsAtNext: {
    is: (word: string) => `Orðið á eftir, „${word}“, er fyrir.`,
    en: (word: string) => `The next word, “${word}”, is in the way.`,
  },
  stopsAtSelf: {
    is: "Orð getur ekki endað áður en það byrjar.",
    en: "A word cannot end before it starts.",
  },
  stopsAtRecording: { is: "Upptakan nær ekki lengra.", en: "The recording goes no further." },
  stopsInOrder: {
    is: "Málsgreinar eru í röð eftir upphafstíma.",
    en: "Paragraphs are in the order of their starts.",
  },
  wasEstimated: { is: "Tímar orðsins voru áætlaðir.", en: "The word’s times were estimated." },
  noWord: { is: "Ekkert orð er við bendilinn.", en: "There is no word at the caret." },
  unclearOff: {
    is: "Slökkt er á óvissum orðum. Veldu mörkin í „Lyklar og stillingar“.",
    en: "Unclear words are off. Choose their limit in “Keys and settings”.",
  },
  noneUnclear: { is: "Engin óviss orð eru eftir.", en: "No unclear words are left." },
  unclear: {
    is: (word: string, percent: string) => `„${word}“, vissa ${percent} %`,
    en: (word: string, percent: string) => `“${word}”, confidence ${percent}%`,
  },
} as const;
