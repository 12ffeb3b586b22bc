import { numberText } from "./numbers.ts";

/** Texts of the dialogs that create and revoke links to a transcript. */
export const shareDialogText = {
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
  revokeTitle: { is: "Afturkalla tengilinn?", en: "Revoke the link?" },
  revokeNext: {
    is: "Hann hættir strax að virka. Ekki er hægt að taka það til baka.",
    en: "It stops working at once. This cannot be undone.",
  },
  revoked: { is: "Tengillinn er afturkallaður.", en: "The link was revoked." },
} as const;
