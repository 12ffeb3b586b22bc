import type { Problems } from "./problems.ts";

/** Texts of the page of the account: its people, who is signed in, and what was done. */
export const accountText = {
  people: { is: "Fólk", en: "People" },
  peopleNone: {
    is: "Engum hefur verið boðið enn. Sá sem þú býður skráir sig inn með netfangi sínu.",
    en: "Nobody has been invited yet. Whoever you invite signs in with their e-mail address.",
  },
  invite: { is: "Bjóða manneskju", en: "Invite a person" },
  inviteNext: {
    is: "Sá sem skráir sig inn með þessu netfangi kemst inn á reikninginn. Enginn póstur er sendur.",
    en: "Whoever signs in with this address comes into the account. No mail is sent.",
  },
  email: { is: "Netfang", en: "E-mail address" },
  emailMissing: { is: "Skrifaðu netfang.", en: "Write an e-mail address." },
  name: { is: "Nafn", en: "Name" },
  role: { is: "Hlutverk", en: "Role" },
  roleOf: {
    OWNER: { is: "Eigandi: allt", en: "Owner: everything" },
    MEMBER: { is: "Þátttakandi: les, skrifar og talar", en: "Member: reads, writes and speaks" },
    VIEWER: { is: "Lesandi: les", en: "Viewer: reads" },
  },
  roleFor: {
    is: (name: string) => `Hlutverk: ${name}`,
    en: (name: string) => `Role of ${name}`,
  },
  roleChanged: { is: "Hlutverkinu hefur verið breytt.", en: "The role is changed." },
  invited: {
    is: (day: string) => `boðið ${day}`,
    en: (day: string) => `invited ${day}`,
  },
  signedIn: {
    is: (when: string) => `skráði sig síðast inn ${when}`,
    en: (when: string) => `last signed in ${when}`,
  },
  neverSignedIn: { is: "hefur ekki skráð sig inn", en: "has not signed in" },
  you: { is: "þú", en: "you" },
  remove: { is: "Fjarlægja", en: "Remove" },
  removeTitle: {
    is: (name: string) => `Fjarlægja ${name}?`,
    en: (name: string) => `Remove ${name}?`,
  },
  removeNext: {
    is: "Þeim sem fer er vísað út innan sekúndu. Uppskriftir og lyklar verða áfram á reikningnum.",
    en: "Their sessions end within a second. Transcripts and keys stay in the account.",
  },
  sessions: { is: "Innskráningar", en: "Sessions" },
  from: {
    is: (address: string) => `frá ${address}`,
    en: (address: string) => `from ${address}`,
  },
  lastSeen: {
    is: (when: string) => `síðast ${when}`,
    en: (when: string) => `last seen ${when}`,
  },
  current: { is: "þessi gluggi", en: "this window" },
  end: { is: "Ljúka", en: "End" },
  endOf: {
    is: (name: string) => `Ljúka innskráningu: ${name}`,
    en: (name: string) => `End the session of ${name}`,
  },
  ended: { is: "Innskráningunni er lokið.", en: "The session is ended." },
  log: { is: "Dagbók", en: "Audit log" },
  logNext: {
    is: "Allt sem gert hefur verið við aðgang og uppskriftir. Engu er eytt úr henni.",
    en: "All that was done to access and transcripts. Nothing is ever taken out of it.",
  },
  older: { is: "Sýna eldri", en: "Show older ones" },
  operator: { is: "Rekstraraðili", en: "The operator" },
  refused: { is: "hafnað", en: "refused" },
  anyone: {
    members: { is: "Manneskja", en: "A person" },
    apiKeys: { is: "API-lykill", en: "An API key" },
    clientKeys: { is: "Undirritunarlykill", en: "A signing key" },
  },
  unknownBrowser: { is: "óþekktur vafri", en: "an unknown browser" },
} as const;

/** What can go wrong with people and sessions alone. */
export const accountProblems: Problems = {
  MEMBER_EXISTS: {
    sentence: {
      is: "Manneskja með þetta netfang er þegar á reikningnum.",
      en: "The account has a person with this address already.",
    },
    next: { is: "Finndu hana á listanum.", en: "Find them in the list." },
  },
  TOO_MANY_MEMBERS: {
    sentence: {
      is: "1.000 manns eru á reikningnum, og fleiri komast ekki að.",
      en: "The account has 1,000 people, and takes no more.",
    },
    next: { is: "Fjarlægðu einhvern og reyndu aftur.", en: "Remove somebody, and try again." },
  },
  LAST_OWNER: {
    sentence: {
      is: "Þetta er eini eigandinn, og einhver þarf að eiga reikninginn.",
      en: "This is the only owner, and somebody has to own the account.",
    },
    next: {
      is: "Gerðu einhvern annan að eiganda fyrst.",
      en: "Make somebody else an owner first.",
    },
  },
  SCOPE_MISSING: {
    sentence: {
      is: "Þú getur ekki gefið öðrum meira en þú mátt.",
      en: "You cannot give others more than you may do yourself.",
    },
    next: { is: "Biddu eiganda um það.", en: "Ask an owner to do it." },
  },
};
