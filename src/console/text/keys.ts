import { counted } from "./counted.ts";
import type { Problems } from "./problems.ts";

/** Texts of the keys page. */
export const keysText = {
  sub: {
    is: "Fyrir forrit sem tala við Hlust. Leyndarmál lykla sjást aðeins einu sinni.",
    en: "For programs that use Hlust. Secrets are shown only once.",
  },
  newApiKey: { is: "Nýr API-lykill", en: "New API key" },
  newClientKey: { is: "Nýr undirritunarlykill", en: "New signing key" },
  apiKeys: { is: "API-lyklar", en: "API keys" },
  clientKeys: { is: "Undirritunarlyklar", en: "Signing keys" },
  noApiKeys: {
    is: "Enginn API-lykill enn. Forrit sýnir hann með hverju kalli; hann er fljótlegasta leiðin inn.",
    en: "No API keys yet. A program sends its API key with each request. An API key is the quickest way to start.",
  },
  noClientKeys: {
    is: "Enginn undirritunarlykill enn. Forrit undirritar með honum í stað þess að senda leyndarmál: einkalykillinn er aðeins hjá þér.",
    en: "No signing keys yet. A program signs tokens instead of sending a secret: only you have the private key.",
  },
  notAllowed: { is: "Lyklar eru í höndum eigenda", en: "Only owners can manage keys" },
  notAllowedNext: {
    is: "Eigendur reikningsins búa til lykla og afturkalla þá. Biddu einhvern þeirra um lykil, eða um hlutverk eiganda.",
    en: "Owners of the account create and revoke keys. Ask one of them for a key, or for the owner role.",
  },
  unnamed: { is: "Án nafns", en: "Unnamed" },
  lastUsed: {
    is: (when: string) => `notaður ${when}`,
    en: (when: string) => `last used ${when}`,
  },
  neverUsed: { is: "aldrei notaður", en: "never used" },
  created: {
    is: (day: string) => `gerður ${day}`,
    en: (day: string) => `created ${day}`,
  },
  expires: { is: "rennur út", en: "expires" },
  expired: { is: "rann út", en: "expired" },
  neverExpires: { is: "rennur ekki út", en: "does not expire" },
  ownKey: { is: "þessi innskráning", en: "this session" },
  limits: {
    requestsPerMinute: {
      is: (count: number) => `${counted("is", count, "kall", "köll")} á mínútu`,
      en: (count: number) => `${counted("en", count, "request", "requests")} per minute`,
    },
    concurrentStreams: {
      is: (count: number) => `${counted("is", count, "streymi", "streymi")} í einu`,
      en: (count: number) => counted("en", count, "concurrent stream", "concurrent streams"),
    },
    queuedJobs: {
      is: (count: number) => `${counted("is", count, "verk", "verk")} í einu`,
      en: (count: number) => counted("en", count, "unfinished job", "unfinished jobs"),
    },
    audioSecondsPerDay: {
      is: (count: number) => `${counted("is", count, "sekúnda", "sekúndur")} af hljóði á dag`,
      en: (count: number) => `${counted("en", count, "second", "seconds")} of audio per day`,
    },
  },
  name: { is: "Nafn", en: "Name" },
  nameHint: {
    is: "Til minnis: hvaða forrit notar lykilinn, og hvar.",
    en: "A reminder: which program uses the key, and where.",
  },
  nameTooLong: {
    is: "Nafnið er of langt: það má mest vera 200 stafir.",
    en: "The name is too long: the limit is 200 characters.",
  },
  scopes: { is: "Hvað má lykillinn?", en: "What can the key do?" },
  scopesNone: { is: "Veldu að minnsta kosti eitt.", en: "Choose at least one." },
  scopeOf: {
    "transcripts.read": {
      is: "Lesa uppskriftir, leita í þeim og sækja þær, og fylgjast með verkum.",
      en: "Read, search and download transcripts, and follow jobs.",
    },
    "transcripts.write": {
      is: "Senda upptökur, breyta uppskriftum og eyða þeim.",
      en: "Submit recordings, and edit and delete transcripts.",
    },
    speech: {
      is: "Senda hljóð beint og fá textann um leið.",
      en: "Stream live audio and receive its text immediately.",
    },
    account: {
      is: "Allt sem eigandi má: búa til lykla, bjóða fólki, lesa dagbókina.",
      en: "Everything an owner can do: create keys, invite members, read the audit log.",
    },
    operator: {
      is: "Reka þjónustuna alla: sjá hnúta og raðir, setja reikningum mörk og loka þeim.",
      en: "Operate the whole service: see nodes and queues, limit and disable accounts.",
    },
  },
  expiry: { is: "Rennur út", en: "Expires" },
  expiryOf: {
    "30": { is: "eftir 30 daga", en: "after 30 days" },
    "90": { is: "eftir 90 daga", en: "after 90 days" },
    year: { is: "eftir ár", en: "after a year" },
    never: { is: "aldrei", en: "never" },
    date: { is: "á degi sem ég vel", en: "on a date I choose" },
  },
  day: { is: "Síðasti dagur", en: "Last day" },
  dayMissing: {
    is: "Veldu dag: í dag eða síðar.",
    en: "Choose a date: today or later.",
  },
  create: { is: "Búa til lykil", en: "Create key" },
  register: { is: "Skrá lykilinn", en: "Register key" },
  createdTitle: { is: "Vistaðu lykilinn núna", en: "Save the key now" },
  secretOnce: {
    is: "Lykillinn sést aðeins í þetta eina sinn. Afritaðu hann á öruggan stað; glatist hann þarf að búa til nýjan.",
    en: "The key is shown only once. Copy it to a safe place; if you lose it, you need to create a new one.",
  },
  secret: { is: "API-lykill", en: "API key" },
  tryIt: { is: "Prófaðu hann í skipanalínu:", en: "Try it on the command line:" },
  request: { is: "Kall til að líma", en: "Example request" },
  saved: { is: "Ég hef vistað lykilinn", en: "I have saved the key" },
  source: { is: "Hvaðan kemur lykillinn?", en: "Where does the key come from?" },
  sourceOf: {
    here: {
      is: "Búa til lyklapar hér. Einkalykillinn verður til í þessum vafra og er hvergi sendur.",
      en: "Create a key pair here. The private key is generated in this browser and never sent.",
    },
    own: {
      is: "Ég á lyklapar: skrá opinbera lykilinn.",
      en: "I have a key pair: register its public key.",
    },
  },
  publicKey: { is: "Opinber lykill (PEM eða JWK)", en: "Public key (PEM or JWK)" },
  chooseFile: { is: "Velja skrá…", en: "Choose a file…" },
  privateOnce: {
    is: "Einkalykillinn er aðeins til í þessum vafra og hverfur þegar glugganum er lokað. Vistaðu hann þar sem forritið nær til hans og enginn annar.",
    en: "The private key exists only in this browser and is lost when you close this window. Save it where your program, and nothing else, can read it.",
  },
  savePrivate: { is: "Vista einkalykilinn (.pem)", en: "Save the private key (.pem)" },
  saveFacts: { is: "Vista auðkennin (.json)", en: "Save the IDs (.json)" },
  factsHint: {
    is: "Þetta stendur í undirrituðum tókum (JWT) frá forritinu:",
    en: "Your program's signed tokens (JWT) contain:",
  },
  registered: { is: "Lykillinn er skráður", en: "The key is registered" },
  signAndCall: {
    is: "Undirritaðu og kallaðu, í skipanalínu þar sem skráin private-key.pem er:",
    en: "Sign and send a request. Run this in the folder that contains private-key.pem:",
  },
  done: { is: "Lokið", en: "Done" },
  revoke: { is: "Afturkalla", en: "Revoke" },
  act: {
    edit: { is: "Breyta", en: "Edit" },
    rotate: { is: "Endurnýja", en: "Rotate" },
    revoke: { is: "Afturkalla", en: "Revoke" },
  },
  actOf: {
    edit: {
      is: (name: string) => `Breyta lyklinum „${name}“`,
      en: (name: string) => `Edit key “${name}”`,
    },
    rotate: {
      is: (name: string) => `Endurnýja lykilinn „${name}“`,
      en: (name: string) => `Rotate key “${name}”`,
    },
    revoke: {
      is: (name: string) => `Afturkalla lykilinn „${name}“`,
      en: (name: string) => `Revoke key “${name}”`,
    },
  },
  twoSecrets: {
    is: (when: string) => `fyrra leyndarmál gildir til ${when}`,
    en: (when: string) => `the previous secret is valid until ${when}`,
  },
  editTitle: { is: "Breyta lyklinum", en: "Edit key" },
  edited: {
    is: (name: string) => `Lykillinn „${name}“ hefur verið vistaður.`,
    en: (name: string) => `The key “${name}” was saved.`,
  },
  limitsTitle: { is: "Mörk lykilsins", en: "Limits of the key" },
  limitsHint: {
    is: "Autt: mörk reikningsins ein gilda.",
    en: "Empty: only the limit of the account applies.",
  },
  limitOf: {
    requestsPerMinute: { is: "Köll á mínútu", en: "Requests per minute" },
    concurrentStreams: { is: "Streymi í einu", en: "Concurrent streams" },
    queuedJobs: { is: "Verk í einu", en: "Unfinished jobs" },
    audioSecondsPerDay: { is: "Sekúndur af hljóði á dag", en: "Seconds of audio per day" },
  },
  limitWrong: { is: "Skrifaðu heila tölu, eða ekkert.", en: "Enter a whole number, or nothing." },
  rotateTitle: {
    is: (name: string) => `Endurnýja „${name}“?`,
    en: (name: string) => `Rotate “${name}”?`,
  },
  rotateNext: {
    is: "Lykillinn fær nýtt leyndarmál. Nafn, heimildir og mörk haldast.",
    en: "The key gets a new secret. Its name, scopes and limits stay.",
  },
  previous: {
    is: "Hvenær hættir fyrra leyndarmálið að gilda?",
    en: "When does the previous secret end?",
  },
  previousOf: {
    now: { is: "strax", en: "now" },
    "3600": { is: "eftir klukkustund", en: "in an hour" },
    "86400": { is: "eftir sólarhring", en: "in 24 hours" },
    "604800": { is: "eftir viku", en: "in a week" },
    date: { is: "á degi sem ég vel", en: "on a date I choose" },
  },
  previousDay: {
    is: "Veldu dag: í dag eða síðar, innan 90 daga.",
    en: "Choose a date: today or later, within 90 days.",
  },
  previousNow: {
    is: "Forrit sem nota fyrra leyndarmálið komast ekki lengur inn, innan sekúndu.",
    en: "Programs that use the previous secret are refused within a second.",
  },
  revokeTitle: {
    is: (name: string) => `Afturkalla „${name}“?`,
    en: (name: string) => `Revoke “${name}”?`,
  },
  revokeUsed: {
    is: (when: string) => `Lykillinn var síðast notaður ${when}.`,
    en: (when: string) => `The key was last used ${when}.`,
  },
  revokeUnused: {
    is: "Lykillinn hefur aldrei verið notaður.",
    en: "The key has never been used.",
  },
  revokeNext: {
    is: "Forrit sem nota hann komast ekki lengur inn, innan sekúndu. Þetta er ekki hægt að taka aftur.",
    en: "Programs that use it are refused within a second. This cannot be undone.",
  },
  revokeOwn: {
    is: "Þú skráðir þig inn með þessum lykli: innskráningunni lýkur um leið.",
    en: "You signed in with this key: your session ends with it.",
  },
  revoked: {
    is: (name: string) => `Lykillinn „${name}“ hefur verið afturkallaður.`,
    en: (name: string) => `The key “${name}” was revoked.`,
  },
} as const;

/** Problems that only keys have. */
export const keyProblems: Problems = {
  TOO_MANY_KEYS: {
    sentence: {
      is: "Reikningurinn hefur 1.000 lykla af þessari gerð, og fleiri má hann ekki hafa.",
      en: "The account has reached its limit of 1,000 keys of this kind.",
    },
    next: {
      is: "Afturkallaðu lykil sem enginn notar og reyndu aftur.",
      en: "Revoke an unused key and try again.",
    },
  },
  SCOPE_MISSING: {
    sentence: {
      is: "Lykill getur ekki mátt meira en sá sem býr hann til.",
      en: "A key cannot have more access than its creator.",
    },
    next: {
      is: "Taktu heimild af honum, eða biddu eiganda um lykilinn.",
      en: "Remove a scope, or ask an owner to create the key.",
    },
  },
  LIMITS_HIGHER: {
    sentence: {
      is: "Lykillinn hefur hærri mörk en lykillinn sem þú skráðir þig inn með.",
      en: "The key has higher limits than the key that you signed in with.",
    },
    next: { is: "Biddu eiganda um það.", en: "Ask an owner to do it." },
  },
  404: {
    sentence: { is: "Lykillinn er ekki lengur til.", en: "The key no longer exists." },
    next: {
      is: "Einhver hefur þegar afturkallað hann.",
      en: "It has already been revoked.",
    },
  },
};
