/** Texts of the browser's notifications about jobs, which every page may show. */
export const jobNotificationText = {
  ready: { is: "Uppskrift tilbúin", en: "Transcript ready" },
  notReady: { is: "Uppskrift mistókst", en: "Transcription failed" },
  body: { is: "Smelltu til að opna Hlust.", en: "Click to open Hlust." },
} as const;
