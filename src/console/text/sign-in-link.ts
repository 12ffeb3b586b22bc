import type { Problems } from "./problems.ts";
import { signInProblems } from "./sign-in.ts";

/** Texts of the form for a sign-in link by mail. */
export const signInLinkText = {
  link: { is: "Enginn tengill, eða hann er runninn út?", en: "No link, or has it expired?" },
  email: { is: "Netfang", en: "Email address" },
  emailHint: {
    is: "Þú færð tengil í pósti ef netfangið er skráð hér.",
    en: "If the address belongs to a member, the service sends a link to it.",
  },
  emailMissing: { is: "Skrifaðu netfangið þitt hér.", en: "Enter your email address." },
  emailWrong: {
    is: "Þetta er ekki netfang, eða í því er annað en enskir bókstafir og tölustafir.",
    en: "This is not an email address, or it has letters other than English ones.",
  },
  sendLink: { is: "Senda tengil", en: "Send a link" },
  linkSent: {
    is: (email: string) =>
      `Ef ${email} er skráð hér er póstur á leiðinni þangað. Tengillinn í honum gildir einu sinni, í klukkustund. Ef hann kemur ekki skaltu gá í ruslpóstinn, eða biðja eiganda reikningsins um tengil.`,
    en: (email: string) =>
      `If ${email} belongs to a member, an email is on its way. The link in it works once, within an hour. If it does not arrive, check the spam folder, or ask an owner of the account for a link.`,
  },
} as const;

/** Problems with requesting a link. */
export const signInLinkProblems: Problems = {
  ...signInProblems,
  TOO_MANY_LINK_REQUESTS: {
    sentence: {
      is: "Of margir tenglar hafa verið sendir héðan á skömmum tíma.",
      en: "Too many links were requested from this network in a short time.",
    },
    next: {
      is: "Reyndu aftur eftir nokkrar mínútur, eða biddu eiganda reikningsins um tengil.",
      en: "Try again in a few minutes, or ask an owner of the account for a link.",
    },
  },
  LINK_REQUESTED_TOO_OFTEN: {
    sentence: {
      is: "Of oft hefur verið beðið um tengil á þetta netfang síðasta sólarhringinn.",
      en: "A link was requested for this address too often within the last 24 hours.",
    },
    next: {
      is: "Notaðu tengilinn sem kom síðast, eða biddu eiganda reikningsins um nýjan.",
      en: "Use the last link that arrived, or ask an owner of the account for a new one.",
    },
  },
};
