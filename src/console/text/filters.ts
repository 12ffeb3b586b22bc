/** Texts of the panel of filters. */
export const filtersText = {
  panel: { is: "Síur", en: "Filters" },
  language: { is: "Tungumál upptöku", en: "Spoken language" },
  keyword: { is: "Efnisorð", en: "Keyword" },
  speaker: { is: "Mælandi", en: "Speaker" },
  all: { is: "Öll", en: "All" },
  allSpeakers: { is: "Allir", en: "All" },
  addKeyword: { is: "Velja efnisorð", en: "Choose a keyword" },
  from: { is: "Breytt frá", en: "Changed from" },
  to: { is: "Breytt til", en: "Changed until" },
  longer: { is: "Að minnsta kosti (mín.)", en: "At least (min)" },
  shorter: { is: "Styttri en (mín.)", en: "Shorter than (min)" },
  sort: { is: "Röðun", en: "Sort" },
  withCount: {
    is: (value: string, count: string) => `${value}, ${count}`,
    en: (value: string, count: string) => `${value} (${count})`,
  },
  clear: { is: "Taka síur af", en: "Clear filters" },
} as const;
