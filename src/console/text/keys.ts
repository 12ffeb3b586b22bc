import { counted } from "./counted.ts";
import type { Problems } from "./problems.ts";

/** Texts of the page of keys. */
export const keysText = {
  sub: {
    is: "Fyrir forrit sem tala við Hlust. Leyndarmál lykla sjást aðeins einu sinni.",
    en: "For programs that talk to Hlust. Secrets are shown once.",
  },
  newApiKey: { is: "Nýr API-lykill", en: "New API key" },
  newClientKey: { is: "Nýr undirritunarlykill", en: "New signing key" },
  apiKeys: { is: "API-lyklar", en: "API keys" },
  clientKeys: { is: "Undirritunarlyklar", en: "Signing keys" },
  noApiKeys: {
    is: "Enginn API-lykill enn. Forrit sýnir hann með hverju kalli; hann er fljótlegasta leiðin inn.",
    en: "No API key yet. A program shows it with each call; it is the quickest way in.",
  },
  noClientKeys: {
    is: "Enginn undirritunarlykill enn. Forrit undirritar með honum í stað þess að senda leyndarmál: einkalykillinn er aðeins hjá þér.",
    en: "No signing key yet. A program signs with it instead of sending a secret: only you have the private key.",
  },
  notAllowed: { is: "Lyklar eru í höndum eigenda", en: "Keys are in the hands of owners" },
  notAllowedNext: {
    is: "Eigendur reikningsins búa til lykla og afturkalla þá. Biddu einhvern þeirra um lykil, eða um hlutverk eiganda.",
    en: "Owners of the account make keys and revoke them. Ask one of them for a key, or for the role of an owner.",
  },
  unnamed: { is: "Án nafns", en: "Without a name" },
  lastUsed: {
    is: (when: string) => `notaður ${when}`,
    en: (when: string) => `used ${when}`,
  },
  neverUsed: { is: "aldrei notaður", en: "never used" },
  made: {
    is: (day: string) => `gerður ${day}`,
    en: (day: string) => `made ${day}`,
  },
  ends: { is: "rennur út", en: "ends" },
  ended: { is: "rann út", en: "ended" },
  neverEnds: { is: "rennur ekki út", en: "does not end" },
  ownKey: { is: "þessi innskráning", en: "this session" },
  limits: {
    requestsPerMinute: {
      is: (count: number) => `${counted("is", count, "kall", "köll")} á mínútu`,
      en: (count: number) => `${counted("en", count, "call", "calls")} a minute`,
    },
    concurrentStreams: {
      is: (count: number) => `${counted("is", count, "streymi", "streymi")} í einu`,
      en: (count: number) => `${counted("en", count, "stream", "streams")} at once`,
    },
    queuedJobs: {
      is: (count: number) => `${counted("is", count, "verk", "verk")} í einu`,
      en: (count: number) => `${counted("en", count, "job", "jobs")} at once`,
    },
    audioSecondsPerDay: {
      is: (count: number) => `${counted("is", count, "sekúnda", "sekúndur")} af hljóði á dag`,
      en: (count: number) => `${counted("en", count, "second", "seconds")} of audio a day`,
    },
  },
  name: { is: "Nafn", en: "Name" },
  nameHint: {
    is: "Til minnis: hvaða forrit notar lykilinn, og hvar.",
    en: "For people: which program uses the key, and where.",
  },
  nameTooLong: {
    is: "Nafnið er of langt: það má mest vera 200 stafir.",
    en: "The name is too long: 200 characters at most.",
  },
  scopes: { is: "Hvað má lykillinn?", en: "What may the key do?" },
  scopesNone: { is: "Veldu að minnsta kosti eitt.", en: "Choose at least one." },
  scopeOf: {
    "transcripts.read": {
      is: "Lesa uppskriftir, leita í þeim og sækja þær, og fylgjast með verkum.",
      en: "Read, search and download transcripts, and follow jobs.",
    },
    "transcripts.write": {
      is: "Senda upptökur, breyta uppskriftum og eyða þeim.",
      en: "Send recordings, change transcripts and delete them.",
    },
    speech: {
      is: "Senda hljóð beint og fá textann um leið.",
      en: "Send audio live and get the text at once.",
    },
    account: {
      is: "Allt sem eigandi má: búa til lykla, bjóða fólki, lesa dagbókina.",
      en: "All that an owner may: make keys, invite people, read the audit log.",
    },
  },
  expiry: { is: "Rennur út", en: "Ends" },
  expiryOf: {
    "30": { is: "eftir 30 daga", en: "after 30 days" },
    "90": { is: "eftir 90 daga", en: "after 90 days" },
    year: { is: "eftir ár", en: "after a year" },
    never: { is: "aldrei", en: "never" },
    date: { is: "á degi sem ég vel", en: "on a day of my choice" },
  },
  day: { is: "Síðasti dagur", en: "Last day" },
  dayMissing: {
    is: "Veldu dag: í dag eða síðar.",
    en: "Choose a day: today or later.",
  },
  create: { is: "Búa til lykil", en: "Make the key" },
  register: { is: "Skrá lykilinn", en: "Register the key" },
  madeTitle: { is: "Vistaðu lykilinn núna", en: "Save the key now" },
  secretOnce: {
    is: "Lykillinn sést aðeins í þetta eina sinn. Afritaðu hann á öruggan stað; glatist hann þarf að búa til nýjan.",
    en: "The key is shown this once. Copy it to a safe place; if it is lost, a new one has to be made.",
  },
  secret: { is: "API-lykill", en: "API key" },
  tryIt: { is: "Prófaðu hann í skipanalínu:", en: "Try it on a command line:" },
  request: { is: "Kall til að líma", en: "A request to paste" },
  saved: { is: "Ég hef vistað lykilinn", en: "I have saved the key" },
  where: { is: "Hvaðan kemur lykillinn?", en: "Where does the key come from?" },
  whereOf: {
    here: {
      is: "Búa til lyklapar hér. Einkalykillinn verður til í þessum vafra og er hvergi sendur.",
      en: "Make a pair here. The private key is made in this browser and sent nowhere.",
    },
    own: {
      is: "Ég á lyklapar: skrá opinbera lykilinn.",
      en: "I have a pair: register its public key.",
    },
  },
  publicKey: { is: "Opinber lykill (PEM eða JWK)", en: "Public key (PEM or JWK)" },
  chooseFile: { is: "Velja skrá…", en: "Choose a file…" },
  privateOnce: {
    is: "Einkalykillinn er aðeins til í þessum vafra og hverfur þegar glugganum er lokað. Vistaðu hann þar sem forritið nær til hans og enginn annar.",
    en: "The private key is in this browser alone, and gone when this window is closed. Save it where the program can read it and nobody else can.",
  },
  savePrivate: { is: "Vista einkalykilinn (.pem)", en: "Save the private key (.pem)" },
  saveFacts: { is: "Vista auðkennin (.json)", en: "Save the ids (.json)" },
  factsHint: {
    is: "Þetta stendur í undirrituðum tókum (JWT) frá forritinu:",
    en: "This is what the signed tokens (JWT) of the program say:",
  },
  registered: { is: "Lykillinn er skráður", en: "The key is registered" },
  signAndCall: {
    is: "Undirritaðu og kallaðu, í skipanalínu þar sem skráin private-key.pem er:",
    en: "Sign and call, on a command line where the file private-key.pem is:",
  },
  done: { is: "Lokið", en: "Done" },
  revoke: { is: "Afturkalla", en: "Revoke" },
  revokeOf: {
    is: (name: string) => `Afturkalla lykilinn „${name}“`,
    en: (name: string) => `Revoke the key “${name}”`,
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
    en: "Programs that use it are refused within a second. This cannot be taken back.",
  },
  revokeOwn: {
    is: "Þú skráðir þig inn með þessum lykli: innskráningunni lýkur um leið.",
    en: "You signed in with this key: your session ends with it.",
  },
  revoked: {
    is: (name: string) => `Lykillinn „${name}“ hefur verið afturkallaður.`,
    en: (name: string) => `The key “${name}” is revoked.`,
  },
} as const;

/** What can go wrong with keys alone. */
export const keyProblems: Problems = {
  TOO_MANY_KEYS: {
    sentence: {
      is: "Reikningurinn hefur 1.000 lykla af þessari gerð, og fleiri má hann ekki hafa.",
      en: "The account has 1,000 keys of this kind, and may not have more.",
    },
    next: {
      is: "Afturkallaðu lykil sem enginn notar og reyndu aftur.",
      en: "Revoke a key that nobody uses, and try again.",
    },
  },
  SCOPE_MISSING: {
    sentence: {
      is: "Lykill getur ekki mátt meira en sá sem býr hann til.",
      en: "A key cannot do more than whoever makes it.",
    },
    next: {
      is: "Taktu heimild af honum, eða biddu eiganda um lykilinn.",
      en: "Take a scope from it, or ask an owner for the key.",
    },
  },
  404: {
    sentence: { is: "Lykillinn er ekki lengur til.", en: "The key is not there any more." },
    next: {
      is: "Einhver hefur þegar afturkallað hann.",
      en: "Somebody has revoked it already.",
    },
  },
};
