import type { Problems } from "./problems.ts";

/** Texts of the page of a link to a transcript. */
export const sharedPageText = {
  ended: { is: "Tengillinn virkar ekki", en: "This link does not work" },
  endedNext: {
    is: "Hann er rangur, útrunninn eða afturkallaður. Sá sem sendi þér hann getur búið til nýjan.",
    en: "It is wrong, has expired or was revoked. The person who sent it to you can create a new one.",
  },
  print: { is: "Prenta", en: "Print" },
} as const;

/** What keeps the page of a link from opening, where this differs from pages with a session. */
export const sharedProblems: Problems = {
  TOO_MANY_REQUESTS: {
    sentence: {
      is: "Þessi tengill hefur verið opnaður of oft á einni mínútu.",
      en: "This link was opened too often within a minute.",
    },
    next: { is: "Bíddu í eina mínútu og reyndu svo aftur.", en: "Wait a minute, then try again." },
  },
};
