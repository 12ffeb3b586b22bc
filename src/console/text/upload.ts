import { counted } from "./counted.ts";

/** Texts about uploads, on every page. */
export const uploadText = {
  dropHere: { is: "Slepptu skránni hér", en: "Drop the file here" },
  sending: {
    is: (count: number) =>
      count === 1 ? "Sendi skrá" : `Sendi ${counted("is", count, "skrá", "skrár")}`,
    en: (count: number) => (count === 1 ? "Uploading a file" : `Uploading ${count} files`),
  },
  percent: { is: (percent: number) => `${percent} %`, en: (percent: number) => `${percent}%` },
  waiting: {
    is: "Sambandið rofnaði. Sending heldur áfram þegar það kemst á.",
    en: "The connection was lost. The upload will resume automatically.",
  },
  failed: { is: "Ekki tókst að senda skrá", en: "A file could not be uploaded" },
  submitted: {
    is: (subject: string) => `${subject} barst þjónustunni og bíður uppskriftar.`,
    en: (subject: string) => `${subject} was uploaded and is waiting to be transcribed.`,
  },
  added: {
    is: (name: string) => `Upptakan er komin: ${name}`,
    en: (name: string) => `Recording added: ${name}`,
  },
} as const;
