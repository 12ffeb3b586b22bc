/** Texts of notifications about jobs, which each page may show; text/jobs.ts is loaded later. */
export const jobNotificationText = {
  ready: { is: "Uppskrift tilbúin", en: "Transcript ready" },
  notReady: { is: "Uppskrift mistókst", en: "Transcription failed" },
  body: { is: "Smelltu til að opna Hlust.", en: "Click to open Hlust." },
} as const;
