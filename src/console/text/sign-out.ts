import { counted } from "./counted.ts";
import type { Language } from "./language.tsx";

/** Texts of the question that is asked when a user signs out with unsaved texts. */
export const signOutText = {
  title: { is: "Óvistaðar breytingar", en: "Unsaved changes" },
  worksTitle: { is: "Óvistuð vinna", en: "Unsaved work" },
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
  works: {
    is: (recordings: number, uploads: number) =>
      `Útskráning fjarlægir ${listedWorks("is", recordings, uploads)}.`,
    en: (recordings: number, uploads: number) =>
      `Signing out deletes ${listedWorks("en", recordings, uploads)}.`,
  },
  toRecording: { is: "Opna Beint til að vista upptökuna", en: "Open Live to save the recording" },
  toUploads: { is: "Sjá skrárnar sem verið er að senda", en: "See the files being uploaded" },
  stay: { is: "Vera áfram", en: "Stay signed in" },
  leave: { is: "Henda þessu og skrá út", en: "Discard and sign out" },
  open: {
    is: (at: number) => `Opna texta ${at} til að vista`,
    en: (at: number) => `Open text ${at} to save it`,
  },
  keep: { is: "Geyma drögin og skrá út", en: "Keep the drafts and sign out" },
  discard: { is: "Henda breytingunum og skrá út", en: "Discard the changes and sign out" },
} as const;

/** Names the work that signing out ends; at least one of the numbers is not 0. */
function listedWorks(language: Language, recordings: number, uploads: number): string {
  const [one, many] =
    language === "is"
      ? (["óvistaða upptöku", "óvistaðar upptökur"] as const)
      : (["unsaved recording", "unsaved recordings"] as const);
  const [file, files] =
    language === "is"
      ? (["skrá sem er á leiðinni", "skrár sem eru á leiðinni"] as const)
      : (["upload that is not finished", "uploads that are not finished"] as const);
  return [
    ...(recordings > 0 ? [counted(language, recordings, one, many)] : []),
    ...(uploads > 0 ? [counted(language, uploads, file, files)] : []),
  ].join(language === "is" ? " og " : " and ");
}
