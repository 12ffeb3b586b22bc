import { counted } from "./counted.ts";

/** Texts of the question that is asked when a user signs out with unsaved texts. */
export const signOutText = {
  title: { is: "Óvistaðar breytingar", en: "Unsaved changes" },
  question: {
    is: (count: number) =>
      `Breytingar á ${counted("is", count, "texta", "textum")} hafa ekki verið vistaðar sem útgáfa. Við útskráningu hverfa drögin úr þessum vafra.`,
    en: (count: number) =>
      `Changes of ${counted("en", count, "text", "texts")} are not saved as a version. Signing out removes the drafts from this browser.`,
  },
  choice: {
    is: "Þjónustan getur geymt drögin; þau opnast aftur þegar þú breytir textanum næst, í hvaða vafra sem er.",
    en: "The service can keep the drafts: they open again the next time that you edit the text, in any browser.",
  },
  open: {
    is: (at: number) => `Opna texta ${at} til að vista`,
    en: (at: number) => `Open text ${at} to save it`,
  },
  keep: { is: "Geyma drögin og skrá út", en: "Keep the drafts and sign out" },
  discard: { is: "Henda breytingunum og skrá út", en: "Discard the changes and sign out" },
} as const;
