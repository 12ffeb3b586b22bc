import type { Problems } from "./problems.ts";

/** Texts of the sign-in page. */
export const signInText = {
  title: { is: "Skráðu þig inn", en: "Sign in" },
  lead: {
    is: "Hlust heyrir það sem sagt er og skrifar það niður.",
    en: "Hlust turns speech into text.",
  },
  entering: { is: "Skrái þig inn…", en: "Signing you in…" },
  ended: {
    is: "Innskráningin er runnin út. Skráðu þig aftur inn og haltu áfram þar sem frá var horfið.",
    en: "Your session has expired. Sign in again to continue where you left off.",
  },
  withProvider: {
    is: "Skrá inn með aðgangi vinnustaðarins",
    en: "Sign in with your organization",
  },
  or: { is: "eða með lykli", en: "or with a key" },
  apiKey: { is: "API-lykill", en: "API key" },
  apiKeyHint: {
    is: "Fyrsti lykillinn er í skránni api-key í gagnamöppu þjónustunnar.",
    en: "The first key is in the file api-key in the service's data folder.",
  },
  apiKeyMissing: { is: "Límdu lykilinn hér.", en: "Paste the key here." },
  showKey: { is: "Sýna lykilinn", en: "Show the key" },
  withKey: { is: "Skrá inn með lykli", en: "Sign in with the key" },
  noKey: {
    is: "Enginn lykill við höndina? Þessi skipun, á vél þjónustunnar, prentar tengil sem skráir þig inn:",
    en: "No key? Run this command on the server to print a sign-in link:",
  },
  askOwner: {
    is: "Ef þú skráir þig inn með tengli og hann er runninn út skaltu biðja eiganda reikningsins um nýjan.",
    en: "If you sign in with a link and it has expired, ask an owner of your account for a new one.",
  },
  noAccess: { is: "Vantar þig aðgang? Hafðu samband:", en: "Need access? Contact" },
  command: { is: "Skipun", en: "Command" },
} as const;

/** Problems with signing in (docs/console.md). */
export const signInProblems: Problems = {
  SIGN_IN_REFUSED: {
    sentence: { is: "Lykillinn gildir ekki.", en: "The key is not valid." },
    next: {
      is: "Athugaðu hvort hann sé allur hér, frá „hlust_“ og út á enda, og hvort honum hafi verið eytt.",
      en: "Check that it is complete, starting with “hlust_”, and that it has not been revoked.",
    },
  },
  LINK_REFUSED: {
    sentence: {
      is: "Tengillinn gildir ekki lengur: hver tengill gildir einu sinni, í tíu mínútur, í klukkustund ef þú fékkst hann héðan í pósti, eða í þrjá daga ef eigandi bjó hann til.",
      en: "The link is no longer valid: each link works once, within ten minutes, an hour if it was sent from this page, or three days if an owner created it.",
    },
    next: {
      is: "Biddu eiganda reikningsins um nýjan tengil, eða skráðu þig inn með lykli. Skipunin bin/hlust console á vél þjónustunnar prentar líka tengil.",
      en: "Ask an owner of the account for a new link, or sign in with a key. The command bin/hlust console on the service's machine prints one, too.",
    },
  },
  HTTPS_NEEDED: {
    sentence: {
      is: "Vafrar halda fólki ekki innskráðu yfir http.",
      en: "Browsers do not keep you signed in over http.",
    },
    next: {
      is: "Opnaðu síðuna með https, eða á vél þjónustunnar sjálfrar: http://127.0.0.1 eða http://localhost.",
      en: "Open this page over https, or on the service's own machine at http://127.0.0.1 or http://localhost.",
    },
  },
  COOKIE_NOT_KEPT: {
    sentence: {
      is: "Vafrinn geymdi ekki vefkökuna sem heldur þér innskráðum.",
      en: "The browser did not keep the cookie that keeps you signed in.",
    },
    next: {
      is: "Leyfðu vefkökur á þessari síðu, eða opnaðu hana með https: sumir vafrar geyma þær ekki yfir http.",
      en: "Allow cookies on this page, or open it over https: some browsers do not keep cookies over http.",
    },
  },
  NOT_A_MEMBER: {
    sentence: {
      is: "Enginn reikningur hér þekkir netfangið þitt.",
      en: "Your email address does not belong to any account here.",
    },
    next: {
      is: "Biddu eiganda reikningsins að bjóða þér með því netfangi.",
      en: "Ask an account owner to invite that address.",
    },
  },
  EMAIL_NOT_VERIFIED: {
    sentence: {
      is: "Netfangið þitt er óstaðfest þar sem þú skráðir þig inn.",
      en: "Your identity provider has not verified your email address.",
    },
    next: { is: "Staðfestu það þar og reyndu aftur.", en: "Verify it there and try again." },
  },
  PROVIDER_REFUSED: {
    sentence: {
      is: "Þér var ekki hleypt inn þar sem þú skráðir þig inn.",
      en: "Your identity provider refused the sign-in.",
    },
    next: {
      is: "Reyndu aftur, og ef til vill með öðrum aðgangi.",
      en: "Try again, or sign in there as a different user.",
    },
  },
  PROVIDER_AWAY: {
    sentence: {
      is: "Innskráning vinnustaðarins svarar ekki.",
      en: "Your organization’s sign-in is not responding.",
    },
    next: {
      is: "Reyndu aftur eftir augnablik, eða skráðu þig inn með lykli.",
      en: "Try again in a moment, or sign in with a key.",
    },
  },
  PROVIDER_FAILED: {
    sentence: {
      is: "Innskráning vinnustaðarins svaraði með einhverju sem stenst ekki.",
      en: "Your organization’s sign-in returned an invalid response.",
    },
    next: {
      is: "Reyndu aftur. Ef þetta endurtekur sig segir dagbók þjónustunnar hvers vegna.",
      en: "Try again. If this keeps happening, the service's log has the reason.",
    },
  },
  SIGN_IN_EXPIRED: {
    sentence: {
      is: "Innskráningin tók lengri tíma en tíu mínútur, eða hófst í öðrum vafra.",
      en: "Signing in took longer than ten minutes, or was started in another browser.",
    },
    next: { is: "Byrjaðu aftur hér.", en: "Start again here." },
  },
  /** The problem for any other reason in the page's address. */
  UNKNOWN: {
    sentence: { is: "Innskráningin tókst ekki.", en: "Signing in failed." },
    next: { is: "Reyndu aftur.", en: "Try again." },
  },
};
