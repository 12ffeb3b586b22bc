/** Texts of the page of examples for one transcript. */
export const examplesText = {
  title: { is: "Sækja uppskrift úr forriti", en: "Use this transcript from a program" },
  untitled: { is: "Uppskrift án titils", en: "Untitled transcript" },
  key: {
    is: "Búðu til API-lykil sem má lesa uppskriftir (og skrifa, ef titlinum er breytt) og settu hann í umhverfisbreytuna HLUST_KEY. Dæmin virka eins og þau eru.",
    en: "Create an API key that can read transcripts (and write them, to change the title), and put it into the environment variable HLUST_KEY. The examples work as they are.",
  },
  makeKey: { is: "Búa til lykil", en: "Create a key" },
  language: { is: "Forritunarmál", en: "Programming language" },
  needs: {
    curl: { is: "curl 7.76 eða nýrra.", en: "curl 7.76 or later." },
    typescript: {
      is: "Node.js 22.18 eða nýrra keyrir skrárnar óbreyttar.",
      en: "Node.js 22.18 or later runs the files as they are.",
    },
    python: {
      is: "Python 3 með pakkanum requests.",
      en: "Python 3 with the package requests.",
    },
  },
  tasks: {
    read: { is: "Lesa textann með tímum", en: "Read the text with its times" },
    subtitles: { is: "Sækja skjátexta", en: "Download subtitles" },
    rename: { is: "Breyta titlinum", en: "Change the title" },
  },
  more: {
    is: "Öll köll, svæði og villur eru í handbókinni:",
    en: "All methods, fields and errors are in the reference:",
  },
  reference: { is: "API-handbók", en: "API reference" },
} as const;
