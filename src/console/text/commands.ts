/** Texts of the command palette, and of the list of shortcuts. */
export const commandsText = {
  title: { is: "Skipanir", en: "Commands" },
  field: { is: "Leita að síðu, skipun eða uppskrift", en: "Find a page, command or transcript" },
  results: { is: "Niðurstöður", en: "Results" },
  count: {
    is: (count: number) => `Niðurstöður: ${count}`,
    en: (count: number) => (count === 1 ? "1 result" : `${count} results`),
  },
  none: { is: "Ekkert fannst.", en: "Nothing found." },
  groups: {
    actions: { is: "Aðgerðir", en: "Actions" },
    pages: { is: "Síður", en: "Pages" },
    transcripts: { is: "Nýjustu uppskriftir", en: "Latest transcripts" },
  },
  searchFor: {
    is: (text: string) => `Leita að „${text}“ í titlum`,
    en: (text: string) => `Search titles for “${text}”`,
  },
  untitled: { is: "Uppskrift án titils", en: "Untitled transcript" },
  palette: { is: "Opna skipanir", en: "Open commands" },
  search: { is: "Leita í uppskriftum", en: "Search transcripts" },
  create: { is: "Ný uppskrift", en: "New transcript" },
  shortcuts: { is: "Sýna flýtilykla", en: "Show shortcuts" },
  theme: {
    system: { is: "Útlit eins og tækið", en: "Appearance: system" },
    light: { is: "Ljóst útlit", en: "Appearance: light" },
    dark: { is: "Dökkt útlit", en: "Appearance: dark" },
  },
  otherLanguage: { is: "English: change the language", en: "Íslenska: skipta um tungumál" },
  shortcutsTitle: { is: "Flýtilyklar", en: "Shortcuts" },
  everywhere: { is: "Á öllum síðum", en: "On every page" },
  morePages: {
    is: "Fleiri lyklar eru á síðu hverrar uppskriftar: opnaðu hana og ýttu á ?.",
    en: "The page of a transcript has more keys: open it and press ?.",
  },
  singleKeysOn: { is: "Nota flýtilykla", en: "Use shortcuts" },
  singleKeysNote: {
    is: "Slökktu á lyklum án Ctrl ef þeir trufla talstjórn eða skjálesara. Stillingin fylgir þér á milli vafra.",
    en: "Turn off keys without Ctrl if they disturb speech input or a screen reader. The setting is kept for you in every browser.",
  },
} as const;
