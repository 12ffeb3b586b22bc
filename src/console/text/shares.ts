/** Texts about links with which a transcript is read without an account. */
export const sharesText = {
  share: { is: "Deila", en: "Share" },
  newLink: { is: "Búa til tengil", en: "Create a link" },
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
} as const;
