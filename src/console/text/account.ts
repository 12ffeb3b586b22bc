import type { Problems } from "./problems.ts";

/** Texts of the account page: members, sessions and the audit log. */
export const accountText = {
  people: { is: "Fólk", en: "Members" },
  peopleNone: {
    is: "Engum hefur verið boðið enn.",
    en: "No one has been invited yet.",
  },
  invite: { is: "Bjóða notanda", en: "Invite a member" },
  inviteNext: {
    is: "Sá sem skráir sig inn með þessu netfangi kemst inn á reikninginn. Enginn póstur er sendur.",
    en: "Anyone who signs in with this address joins the account. No email is sent.",
  },
  inviteByLink: {
    is: "Hér er engin innskráningarþjónusta og enginn póstur er sendur. Næst færðu tengil sem þú sendir þeim sem þú býður.",
    en: "There is no sign-in provider here, and no email is sent. In the next step you get a link to send to the person you invite.",
  },
  isInvited: {
    is: (email: string) => `Boðið á reikninginn: ${email}`,
    en: (email: string) => `Member invited: ${email}`,
  },
  link: { is: "Tengill", en: "Link" },
  linkOf: {
    is: (name: string) => `Innskráningartengill: ${name}`,
    en: (name: string) => `Sign-in link: ${name}`,
  },
  linkNext: {
    is: "Tengillinn skráir inn einu sinni, innan þriggja daga, og eldri tenglar falla úr gildi. Sendu hann þeim einum sem á að komast inn.",
    en: "The link signs in once, within three days, and replaces earlier links. Send it only to the person who is to sign in.",
  },
  makeLink: { is: "Búa til tengil", en: "Create link" },
  email: { is: "Netfang", en: "Email address" },
  emailMissing: { is: "Skrifaðu netfang.", en: "Enter an email address." },
  emailWrong: {
    is: "Þetta er ekki netfang. Í því er @ og engir íslenskir stafir, og það er mest 254 stafir.",
    en: "This is not an email address. It has an @, only ASCII letters, and at most 254 characters.",
  },
  name: { is: "Nafn", en: "Name" },
  nameWrong: {
    is: "Nafnið er of langt: mest 200 stafir.",
    en: "The name is too long: at most 200 characters.",
  },
  role: { is: "Hlutverk", en: "Role" },
  roleOf: {
    OWNER: { is: "Eigandi: allt", en: "Owner: full access" },
    MEMBER: {
      is: "Þátttakandi: má lesa, breyta og skrifa upp",
      en: "Member: can view, edit and transcribe",
    },
    VIEWER: { is: "Lesandi: má lesa", en: "Viewer: can view" },
  },
  roleFor: {
    is: (name: string) => `Hlutverk: ${name}`,
    en: (name: string) => `Role: ${name}`,
  },
  roleTitle: {
    is: (name: string) => `Breyta hlutverki: ${name}?`,
    en: (name: string) => `Change the role of ${name}?`,
  },
  roleNext: {
    is: (role: string) => `Nýtt hlutverk: ${role}. Það gildir innan sekúndu.`,
    en: (role: string) => `New role: ${role}. It takes effect within a second.`,
  },
  roleChange: { is: "Breyta hlutverki", en: "Change role" },
  roleChanged: { is: "Hlutverkinu hefur verið breytt.", en: "Role changed." },
  invited: {
    is: (day: string) => `boðið ${day}`,
    en: (day: string) => `invited ${day}`,
  },
  signedIn: {
    is: (when: string) => `skráði sig síðast inn ${when}`,
    en: (when: string) => `last signed in ${when}`,
  },
  neverSignedIn: { is: "hefur ekki skráð sig inn", en: "has never signed in" },
  you: { is: "þú", en: "you" },
  remove: { is: "Fjarlægja", en: "Remove" },
  removeTitle: {
    is: (name: string) => `Fjarlægja ${name}?`,
    en: (name: string) => `Remove ${name}?`,
  },
  removeNext: {
    is: "Þeim sem fer er vísað út innan sekúndu. Uppskriftir og lyklar verða áfram á reikningnum.",
    en: "They are signed out within a second. Transcripts and keys stay in the account.",
  },
  removed: {
    is: (name: string) => `Ekki lengur á reikningnum: ${name}`,
    en: (name: string) => `Member removed: ${name}`,
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
  current: { is: "þessi innskráning", en: "this session" },
  end: { is: "Ljúka", en: "End" },
  endOf: {
    is: (name: string) => `Ljúka innskráningu: ${name}`,
    en: (name: string) => `End session: ${name}`,
  },
  ended: { is: "Innskráningunni er lokið.", en: "Session ended." },
  log: { is: "Dagbók", en: "Audit log" },
  logNext: {
    is: "Allt sem gert hefur verið við aðgang og uppskriftir.",
    en: "Changes to access and transcripts.",
  },
  logAction: { is: "Hvað", en: "Action" },
  logActor: { is: "Hver", en: "By" },
  logAll: { is: "Allt", en: "All" },
  logEveryone: { is: "Allir", en: "Everyone" },
  logKinds: {
    transcript: { is: "Uppskriftir", en: "Transcripts" },
    share: { is: "Tenglar á uppskriftir", en: "Links to transcripts" },
    review: { is: "Yfirlestrarmerki", en: "Review marks" },
    member: { is: "Fólk", en: "Members" },
    invitation: { is: "Boð í pósti", en: "Invitations by email" },
    session: { is: "Innskráningar", en: "Sessions" },
    sign_in: { is: "Misheppnaðar innskráningar", en: "Failed sign-ins" },
    sign_in_token: { is: "Innskráningartenglar", en: "Sign-in links" },
    api_key: { is: "API-lyklar", en: "API keys" },
    client_key: { is: "Undirritunarlyklar", en: "Signing keys" },
    account: { is: "Reikningurinn", en: "The account" },
    limits: { is: "Mörk reikningsins", en: "Limits of the account" },
    vocabulary: { is: "Orðaforði", en: "Vocabulary" },
    webhook: { is: "Vefkrókar", en: "Webhooks" },
    stream_token: { is: "Aðgangur að beinum streymum", en: "Tokens for live streams" },
    access: { is: "Óheimilar aðgerðir", en: "Refused access" },
  },
  logCsv: { is: "Sækja sem CSV", en: "Download CSV" },
  logNone: { is: "Engar færslur.", en: "No entries." },
  older: { is: "Sýna eldri", en: "Show older entries" },
  operator: { is: "Rekstraraðili", en: "Operator" },
  refused: { is: "hafnað", en: "refused" },
  anyone: {
    members: { is: "Notandi", en: "Member" },
    apiKeys: { is: "API-lykill", en: "API key" },
    clientKeys: { is: "Undirritunarlykill", en: "Signing key" },
  },
  unknownBrowser: { is: "óþekktur vafri", en: "unknown browser" },
} as const;

/** Problems that only members and sessions have. */
export const accountProblems: Problems = {
  MEMBER_EXISTS: {
    sentence: {
      is: "Notandi með þetta netfang er þegar á reikningnum.",
      en: "A member of the account already has this address.",
    },
    next: { is: "Finndu hann á listanum.", en: "You can find them in the list." },
  },
  TOO_MANY_MEMBERS: {
    sentence: {
      is: "Á reikningnum eru 1.000 notendur, og fleiri komast ekki að.",
      en: "The account has reached its limit of 1,000 members.",
    },
    next: { is: "Fjarlægðu einhvern og reyndu aftur.", en: "Remove a member and try again." },
  },
  LAST_OWNER: {
    sentence: {
      is: "Þetta er eini eigandinn, og einhver þarf að eiga reikninginn.",
      en: "This is the only owner, and an account needs at least one.",
    },
    next: {
      is: "Gerðu einhvern annan að eiganda fyrst.",
      en: "Make another member an owner first.",
    },
  },
  SCOPE_MISSING: {
    sentence: {
      is: "Þú getur ekki gefið öðrum meira en þú mátt.",
      en: "You cannot grant more access than you have yourself.",
    },
    next: { is: "Biddu eiganda um það.", en: "Ask an owner to do it." },
  },
};
