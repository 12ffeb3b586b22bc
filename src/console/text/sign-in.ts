import type { Problems } from "./problems.ts";

/** Texts of the way in. */
export const signInText = {
  title: { is: "Skráðu þig inn", en: "Sign in" },
  lead: {
    is: "Hlust heyrir það sem sagt er og skrifar það niður.",
    en: "Hlust hears what is said, and writes it down.",
  },
  entering: { is: "Skrái þig inn…", en: "Signing you in…" },
  ended: {
    is: "Innskráningin er runnin út. Skráðu þig aftur inn og haltu áfram þar sem frá var horfið.",
    en: "Your session has ended. Sign in again, and go on where you were.",
  },
  withProvider: {
    is: "Skrá inn með aðgangi vinnustaðarins",
    en: "Sign in with your organization",
  },
  or: { is: "eða með lykli", en: "or with a key" },
  apiKey: { is: "API-lykill", en: "API key" },
  apiKeyHint: {
    is: "Fyrsti lykillinn er í skránni api-key í gagnamöppu þjónustunnar.",
    en: "The first key is in the file api-key in the data folder of the service.",
  },
  apiKeyMissing: { is: "Límdu lykilinn hér.", en: "Paste the key here." },
  withKey: { is: "Skrá inn með lykli", en: "Sign in with the key" },
  noKey: {
    is: "Enginn lykill við höndina? Þessi skipun, á vél þjónustunnar, prentar hlekk sem skráir þig inn:",
    en: "No key at hand? This command, on the machine of the service, prints a link that signs you in:",
  },
  noAccess: { is: "Vantar þig aðgang? Hafðu samband:", en: "Need access? Contact" },
  command: { is: "Skipun", en: "Command" },
} as const;

/** What can go wrong on the way in (docs/console.md). */
export const signInProblems: Problems = {
  SIGN_IN_REFUSED: {
    sentence: { is: "Lykillinn gildir ekki.", en: "The key is not valid." },
    next: {
      is: "Athugaðu hvort hann sé allur hér, frá „hlust_“ og út á enda, og hvort honum hafi verið eytt.",
      en: "See that it is all here, from “hlust_” to its end, and that nobody has deleted it.",
    },
  },
  LINK_REFUSED: {
    sentence: {
      is: "Hlekkurinn gildir ekki lengur: hver hlekkur gildir einu sinni, í tíu mínútur.",
      en: "The link is no longer good: each is good once, for ten minutes.",
    },
    next: {
      is: "Skráðu þig inn með lykli, eða fáðu nýjan hlekk með skipuninni bin/hlust console á vél þjónustunnar.",
      en: "Sign in with a key, or get another link from bin/hlust console on the machine of the service.",
    },
  },
  HTTPS_NEEDED: {
    sentence: {
      is: "Vafrar halda fólki ekki innskráðu yfir http.",
      en: "Browsers keep nobody signed in over http.",
    },
    next: {
      is: "Opnaðu síðuna með https, eða á vél þjónustunnar sjálfrar: http://127.0.0.1 eða http://localhost.",
      en: "Open this page with https, or on the machine of the service itself: http://127.0.0.1 or http://localhost.",
    },
  },
  COOKIE_NOT_KEPT: {
    sentence: {
      is: "Vafrinn geymdi ekki vefkökuna sem heldur þér innskráðum.",
      en: "The browser did not keep the cookie that holds you signed in.",
    },
    next: {
      is: "Leyfðu vefkökur á þessari síðu, eða opnaðu hana með https: sumir vafrar geyma þær ekki yfir http.",
      en: "Allow cookies on this page, or open it with https: some browsers keep none over http.",
    },
  },
  NOT_A_MEMBER: {
    sentence: {
      is: "Enginn reikningur hér þekkir netfangið þitt.",
      en: "No account here knows your e-mail address.",
    },
    next: {
      is: "Biddu eiganda reikningsins að bjóða þér með því netfangi.",
      en: "Ask an owner of the account to invite that address.",
    },
  },
  EMAIL_NOT_VERIFIED: {
    sentence: {
      is: "Netfangið þitt er óstaðfest þar sem þú skráðir þig inn.",
      en: "Your e-mail address is not verified where you signed in.",
    },
    next: { is: "Staðfestu það þar og reyndu aftur.", en: "Verify it there, then try again." },
  },
  PROVIDER_REFUSED: {
    sentence: {
      is: "Þér var ekki hleypt inn þar sem þú skráðir þig inn.",
      en: "You were not let in where you signed in.",
    },
    next: {
      is: "Reyndu aftur, og ef til vill með öðrum aðgangi.",
      en: "Try again, perhaps as somebody else.",
    },
  },
  PROVIDER_AWAY: {
    sentence: {
      is: "Innskráning vinnustaðarins svarar ekki.",
      en: "Your organization’s sign-in does not answer.",
    },
    next: {
      is: "Reyndu aftur eftir augnablik, eða skráðu þig inn með lykli.",
      en: "Try again in a moment, or sign in with a key.",
    },
  },
  PROVIDER_FAILED: {
    sentence: {
      is: "Innskráning vinnustaðarins svaraði með einhverju sem stenst ekki.",
      en: "Your organization’s sign-in sent back what is not in order.",
    },
    next: {
      is: "Reyndu aftur. Ef þetta endurtekur sig segir dagbók þjónustunnar hvers vegna.",
      en: "Try again. If it stays so, the log of the service says why.",
    },
  },
  SIGN_IN_EXPIRED: {
    sentence: {
      is: "Innskráningin tók lengri tíma en tíu mínútur, eða hófst í öðrum vafra.",
      en: "Signing in took more than ten minutes, or began in another browser.",
    },
    next: { is: "Byrjaðu aftur hér.", en: "Begin again here." },
  },
  /** Whatever else an address says. */
  UNKNOWN: {
    sentence: { is: "Innskráningin tókst ekki.", en: "Signing in did not work." },
    next: { is: "Reyndu aftur.", en: "Try again." },
  },
};
