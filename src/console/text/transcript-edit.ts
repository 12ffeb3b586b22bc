/** Texts of the page that shows a transcript, while its text is edited. */
export const editText = {
  keysAndSettings: { is: "Lyklar og stillingar", en: "Keys and settings" },
  edit: { is: "Breyta texta", en: "Edit text" },
  textName: { is: "Textinn, í vinnslu", en: "Transcript text, editable" },
  read: { is: "Lesa", en: "Read" },
  undo: { is: "Afturkalla", en: "Undo" },
  redo: { is: "Endurtaka", en: "Redo" },
  saved: { is: "Engar óvistaðar breytingar", en: "No unsaved changes" },
  unsaved: { is: "Óvistaðar breytingar", en: "Unsaved changes" },
  draftKept: {
    is: "Óvistaðar breytingar · drög geymd hér",
    en: "Unsaved changes · draft kept here",
  },
  draftOnService: {
    is: "Óvistaðar breytingar · drög geymd hér og í þjónustunni",
    en: "Unsaved changes · draft kept here and by the service",
  },
  draftFailed: {
    is: "Óvistaðar breytingar · vafrinn getur ekki geymt drög: vistaðu útgáfu",
    en: "Unsaved changes · this browser cannot keep a draft: save a version",
  },
  draftOnlyOnService: {
    is: "Óvistaðar breytingar · vafrinn getur ekki geymt drög; þau eru geymd í þjónustunni",
    en: "Unsaved changes · this browser cannot keep a draft; the service keeps it",
  },
  draftNowhere: {
    is: "Óvistaðar breytingar · drögin eru hvergi geymd: vistaðu útgáfu",
    en: "Unsaved changes · the draft is kept nowhere: save a version",
  },
  draftTooLarge: {
    is: "Óvistaðar breytingar · drög geymd hér; þau eru of stór fyrir þjónustuna: vistaðu útgáfu",
    en: "Unsaved changes · draft kept here; it is too large for the service: save a version",
  },
  draftFull: {
    is: "Óvistaðar breytingar · drög geymd hér; geymsla reikningsins er full: vistaðu útgáfu",
    en: "Unsaved changes · draft kept here; the account's storage is full: save a version",
  },
  draftElsewhere: {
    is: "Óvistaðar breytingar · annar vafri á önnur drög í þjónustunni; þessi eru geymd hér",
    en: "Unsaved changes · another browser has a draft on the service; this one is kept here",
  },
  draftFound: {
    is: (when: string) => `Drög frá ${when} eru opin aftur.`,
    en: (when: string) => `The draft of ${when} is open again.`,
  },
  dropDraft: { is: "Henda drögunum", en: "Discard the draft" },
  saving: { is: "Vista…", en: "Saving…" },
  endTitle: { is: "Óvistaðar breytingar", en: "Unsaved changes" },
  endQuestion: {
    is: "Á að vista breytingarnar sem nýja útgáfu áður en þú hættir að breyta?",
    en: "Save the changes as a new version before you stop editing?",
  },
  keepEditing: { is: "Breyta áfram", en: "Keep editing" },
  discard: { is: "Henda breytingunum", en: "Discard the changes" },
  saveWithNote: { is: "Vista með athugasemd…", en: "Save with a note…" },
  noteTitle: { is: "Vista sem útgáfu með athugasemd", en: "Save as a version with a note" },
  note: { is: "Athugasemd", en: "Note" },
  noteHint: {
    is: "Sést í listanum yfir útgáfur. Enter vistar.",
    en: "It is shown in the list of versions. Enter saves.",
  },
  savedAsVersion: { is: "Vistað sem ný útgáfa.", en: "Saved as a new version." },
} as const;
