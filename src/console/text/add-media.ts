/** Texts about the recording of a transcript that has none. */
export const addMediaText = {
  title: { is: "Upptaka", en: "Recording" },
  none: {
    is: "Engin upptaka fylgir uppskriftinni. Með henni er hægt að hlusta og finna hvenær hvert orð er sagt.",
    en: "The transcript has no recording. With one, you can listen, and find when each word is said.",
  },
  add: { is: "Bæta við upptöku", en: "Add a recording" },
  dropHint: {
    is: "Það má líka draga hana hingað.",
    en: "You can also drop it on this page.",
  },
} as const;
