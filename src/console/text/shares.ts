import type { Problems } from "./problems.ts";

import { numberText } from "./numbers.ts";

/** Texts about links with which a transcript is read without an account. */
export const sharesText = {
  share: { is: "Deila", en: "Share" },
  newLink: { is: "Búa til tengil", en: "Create a link" },
  newTitle: { is: "Deila uppskriftinni", en: "Share the transcript" },
  what: {
    is: "Allir sem hafa tengilinn geta lesið textann og nöfnin í honum, án innskráningar. Annað sést ekki.",
    en: "Anyone who has the link can read the text and the names in it, without signing in. Nothing else is shown.",
  },
  ofCurrent: {
    is: "Tengillinn sýnir alltaf nýjustu útgáfuna.",
    en: "The link always shows the newest version.",
  },
  ofVersion: {
    is: "Tengillinn sýnir útgáfuna sem nú er á síðunni, þótt önnur komi síðar.",
    en: "The link shows the version on this page, even if a newer one follows.",
  },
  content: { is: "Hverju er deilt", en: "What is shared" },
  textOnly: { is: "Aðeins texta", en: "The text only" },
  textAndMedia: { is: "Texta og upptöku", en: "The text and the recording" },
  mediaHint: {
    is: "Upptöku sem hægt er að spila er líka hægt að afrita.",
    en: "A recording that can be played can also be copied.",
  },
  expiry: { is: "Gildir í", en: "Valid for" },
  days: {
    is: (count: number) => `${numberText("is", count)} daga`,
    en: (count: number) => `${numberText("en", count)} days`,
  },
  note: { is: "Athugasemd", en: "Note" },
  noteHint: {
    is: "Til dæmis hver fær tengilinn. Sést ekki á síðunni.",
    en: "For example, who gets the link. The page does not show it.",
  },
  make: { is: "Búa til tengil", en: "Create the link" },
  madeTitle: { is: "Tengillinn er tilbúinn", en: "The link is ready" },
  made: {
    is: "Afritaðu tengilinn núna; hann er ekki sýndur aftur. Hægt er að afturkalla hann hvenær sem er.",
    en: "Copy the link now; it is not shown again. You can revoke it at any time.",
  },
  link: { is: "Tengill", en: "Link" },
  links: { is: "Tenglar", en: "Links" },
  none: { is: "Uppskriftinni er ekki deilt.", en: "The transcript is not shared." },
  withMedia: { is: "Texti og upptaka", en: "Text and recording" },
  withoutMedia: { is: "Aðeins texti", en: "Text only" },
  expires: { is: (day: string) => `til ${day}`, en: (day: string) => `until ${day}` },
  lastRead: {
    is: (time: string) => `síðast lesið ${time}`,
    en: (time: string) => `last read ${time}`,
  },
  neverRead: { is: "ekki lesið enn", en: "not read yet" },
  revoke: { is: "Afturkalla", en: "Revoke" },
  revokeOf: {
    is: (what: string) => `Afturkalla tengil: ${what}`,
    en: (what: string) => `Revoke the link: ${what}`,
  },
  revokeTitle: { is: "Afturkalla tengilinn?", en: "Revoke the link?" },
  revokeNext: {
    is: "Hann hættir strax að virka. Ekki er hægt að taka það til baka.",
    en: "It stops working at once. This cannot be undone.",
  },
  revoked: { is: "Tengillinn er afturkallaður.", en: "The link was revoked." },

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
      is: "Þessi hlekkur hefur verið opnaður of oft á einni mínútu.",
      en: "This link was opened too often within a minute.",
    },
    next: { is: "Bíddu í eina mínútu og reyndu svo aftur.", en: "Wait a minute, then try again." },
  },
};
