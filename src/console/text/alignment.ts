/** Texts of the alignment of a transcript's words to its audio. */
export const alignmentText = {
  align: { is: "Stilla orð við hljóð", en: "Align words to the audio" },
  progress: { is: "Stilling orða við hljóð", en: "Alignment of words to the audio" },
  waiting: { is: "Beðið er eftir að stilling hefjist.", en: "Waiting to align the words." },
  running: {
    is: (percent: number) => `Orð eru stillt við hljóð: ${percent} %.`,
    en: (percent: number) => `Aligning the words to the audio: ${percent}%.`,
  },
  cancel: { is: "Hætta við stillingu", en: "Cancel the alignment" },
  done: {
    is: "Orðin eru stillt við hljóðið, í nýrri útgáfu.",
    en: "The words were aligned to the audio, in a new version.",
  },
};
