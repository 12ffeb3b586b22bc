import { counted } from "./counted.ts";

/** Texts of files on their way, on every page. */
export const uploadText = {
  dropHere: {
    is: "Slepptu upptökunni og þú færð hana skrifaða upp",
    en: "Let go to have it transcribed",
  },
  sending: {
    is: (count: number) =>
      count === 1 ? "Sendi skrá" : `Sendi ${counted("is", count, "skrá", "skrár")}`,
    en: (count: number) => (count === 1 ? "Sending a file" : `Sending ${count} files`),
  },
  percent: { is: (percent: number) => `${percent} %`, en: (percent: number) => `${percent}%` },
  waiting: {
    is: "Sambandið rofnaði. Sending heldur áfram þegar það kemst á.",
    en: "The connection is gone. Sending goes on when it is back.",
  },
  failed: { is: "Ekki tókst að senda skrá", en: "A file could not be sent" },
  submitted: {
    is: (subject: string) => `${subject} barst þjónustunni og bíður uppskriftar.`,
    en: (subject: string) => `${subject} has arrived and waits to be transcribed.`,
  },
} as const;
