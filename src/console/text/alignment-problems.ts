import type { Problems } from "./problems.ts";

/** The problems of alignment jobs. */
export const alignmentProblems: Problems = {
  VERSION_STALE: {
    sentence: {
      is: "Textanum var breytt á meðan, svo að tímum hans var ekki breytt.",
      en: "The text was changed in the meantime, so its times were left as they are.",
    },
    next: { is: "Stilltu orðin aftur.", en: "Align the words again." },
  },
  TRANSCRIPT_WITHOUT_MEDIA: {
    sentence: {
      is: "Uppskriftin á enga upptöku til að stilla orðin við.",
      en: "The transcript has no recording to align its words to.",
    },
    next: { is: "Bættu upptöku við hana fyrst.", en: "Add a recording to it first." },
  },
  TRANSCRIPT_WITHOUT_WORDS: {
    sentence: { is: "Engin orð eru í uppskriftinni.", en: "The transcript has no words." },
    next: { is: "Skrifaðu textann fyrst.", en: "Write the text first." },
  },
  ALIGNMENT_NOT_SUPPORTED: {
    sentence: {
      is: "Ekkert uppsett líkan getur stillt orð á þessu máli.",
      en: "No installed model can align words in this language.",
    },
    next: {
      is: "Rekstraraðili þjónustunnar getur sett það upp.",
      en: "The operator of the service can install one.",
    },
  },
};
