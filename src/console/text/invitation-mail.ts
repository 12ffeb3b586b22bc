import type { InvitationMail_ProblemJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import type { Phrase } from "./language.tsx";
import type { Problems } from "./problems.ts";

/** Texts about mail to members. */
export const mailText = {
  inviteByMail: {
    is: "Boð með tengli er sent á netfangið. Þú getur líka búið til tengil og sent hann á annan hátt.",
    en: "An invitation with a link is sent to this address. You can also create a link and send it in another way.",
  },
  inviteToProvider: {
    is: "Boð með slóð stjórnborðsins er sent á netfangið. Sá sem fær það skráir sig inn með aðgangi vinnustaðarins.",
    en: "An invitation with the URL of the console is sent to this address. The person who gets it signs in with your organization.",
  },
  linkOrPage: {
    is: "Í pósti er slóð stjórnborðsins, þar sem fólk skráir sig inn með aðgangi vinnustaðarins. Tengill sem þú býrð til hér skráir inn án hans, einu sinni, innan þriggja daga. Eldri tenglar falla þá úr gildi.",
    en: "The email has the URL of the console, where people sign in with your organization. A link that you create here signs in without it, once, within three days. Earlier links then no longer work.",
  },
  linkOrMail: {
    is: "Tengillinn skráir inn einu sinni, innan þriggja daga. Sendu hann í pósti, eða búðu hann til hér og afritaðu. Eldri tenglar falla úr gildi, líka þeir sem voru sendir í pósti.",
    en: "The link signs in once, within three days. Send it by email, or create it here and copy it. Earlier links no longer work, including those sent by email.",
  },
  send: { is: "Senda í pósti", en: "Send by email" },
  sendAgain: { is: "Senda aftur í pósti", en: "Send again by email" },
  onItsWay: { is: "Pósturinn er á leiðinni.", en: "The email is on its way." },
  pending: { is: "póstur á leiðinni", en: "email on its way" },
  waits: {
    is: (reason: string) => `póstur bíður: ${reason}`,
    en: (reason: string) => `email waiting: ${reason}`,
  },
  sent: {
    is: (when: string) => `póstur sendur ${when}`,
    en: (when: string) => `email sent ${when}`,
  },
  failed: {
    is: (reason: string) => `póstur fór ekki: ${reason}`,
    en: (reason: string) => `email not sent: ${reason}`,
  },
  unknown: {
    is: (reason: string) => `óvíst hvort póstur barst: ${reason}`,
    en: (reason: string) => `email may not have arrived: ${reason}`,
  },
  canceled: {
    is: "póstur fór ekki: nýr tengill kom í staðinn",
    en: "email not sent: a new link was created instead",
  },
} as const;

/** Why a mail was not sent, as the end of a sentence. */
export const mailProblemText: Readonly<
  Record<Exclude<InvitationMail_ProblemJson, "PROBLEM_UNSPECIFIED">, Phrase<string>>
> = {
  RECIPIENT_REFUSED: {
    is: "póstþjónninn tekur ekki við pósti á þetta netfang",
    en: "the mail server does not accept this address",
  },
  MESSAGE_REFUSED: {
    is: "póstþjónninn tók ekki við póstinum",
    en: "the mail server refused the message",
  },
  SENDER_REFUSED: {
    is: "póstþjónninn tekur ekki við pósti frá þjónustunni, og rekstraraðili þarf að laga það",
    en: "the mail server does not accept email from this service, which its operator has to fix",
  },
  SIGN_IN_REFUSED: {
    is: "póstþjónninn hafnar aðgangi þjónustunnar, og rekstraraðili þarf að laga það",
    en: "the mail server refuses access to this service, which its operator has to fix",
  },
  NOT_ENCRYPTED: {
    is: "sambandið við póstþjóninn er ekki öruggt, og rekstraraðili þarf að laga það",
    en: "the connection to the mail server is not secure, which the operator has to fix",
  },
  NOT_REACHED: {
    is: "ekki næst samband við póstþjóninn",
    en: "the mail server cannot be reached",
  },
  NO_ANSWER: { is: "póstþjónninn svarar ekki", en: "the mail server does not answer" },
  POSTPONED: {
    is: "póstþjónninn tekur ekki við honum strax",
    en: "the mail server does not accept it yet",
  },
  OUTCOME_UNKNOWN: {
    is: "sambandið við póstþjóninn slitnaði",
    en: "the connection to the mail server was lost",
  },
  TIME_OVER: {
    is: "ekki tókst að senda hann á einum sólarhring",
    en: "it could not be sent within 24 hours",
  },
  INTERNAL: { is: "villa kom upp í þjónustunni", en: "the service had an error" },
};

/** Problems with the request to send a mail. */
export const sendProblems: Problems = {
  MAIL_NOT_SET_UP: {
    sentence: { is: "Þjónustan sendir engan póst.", en: "This service sends no email." },
    next: { is: "Búðu til tengil og sendu hann.", en: "Create a link and send it." },
  },
  TOO_MUCH_MAIL: {
    sentence: {
      is: "Reikningurinn hefur sent eins mikinn póst síðasta sólarhring og hann má.",
      en: "The account has sent as many emails in the last 24 hours as it may.",
    },
    next: {
      is: "Búðu til tengil og sendu hann, eða reyndu aftur á morgun.",
      en: "Create a link and send it, or try again tomorrow.",
    },
  },
  MAILED_TOO_OFTEN: {
    sentence: {
      is: "Póstur hefur verið sendur fimm sinnum á þetta netfang síðasta sólarhring, sem er hámarkið.",
      en: "This address has been sent five emails in the last 24 hours, which is the limit.",
    },
    next: {
      is: "Búðu til tengil og sendu hann, eða reyndu aftur á morgun.",
      en: "Create a link and send it, or try again tomorrow.",
    },
  },
};
