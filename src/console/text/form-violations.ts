import type { FieldViolation } from "../api/api-error.ts";
import { accountText } from "./account.ts";
import { count, explained, type Explained, type Explanations } from "./explained-messages.ts";
import { hintExplanations } from "./hint-violations.ts";
import { jobExplanations } from "./job-violations.ts";
import { publicKeyProblems } from "./public-key-problems.ts";

/** The messages of the service about public keys (src/auth/client-key.ts). */
const ofPublicKeys: Explanations = [
  [/^is required: a public key/, () => publicKeyProblems.empty],
  [/^is longer than \d+ characters$/, () => publicKeyProblems.tooLong],
  [/^is a private key:/, () => publicKeyProblems.sentPrivate],
  [/^is neither PEM /, () => publicKeyProblems.unknown],
  [/^is PEM without a key$/, () => publicKeyProblems.damaged],
  [/^begins like a JWK but is not JSON$/, () => publicKeyProblems.json],
  [/^is a set of keys:/, () => publicKeyProblems.set],
  [/^is not a JWK$|^is JSON, but not a public key/, () => publicKeyProblems.notKey],
  [/^is a JWK that is not for signatures/, () => publicKeyProblems.notForSigning],
  [
    /^is a JWK whose alg is not (\S+),/,
    ([algorithm]) => ({
      is: `„alg“ í lyklinum er rangt: fyrir lykil af þessari gerð er það ${algorithm}.`,
      en: `The key's “alg” is wrong: for a key of this kind it is ${algorithm}.`,
    }),
  ],
  [
    /^is an RSA key that must have (\d+) to (\d+) bits, not (\d+)$/,
    ([min, max, bits]) => ({
      is: `RSA-lykillinn er ${count("is", bits)} bitar; hann þarf að vera ${count("is", min)} til ${count("is", max)} bitar.`,
      en: `The RSA key has ${count("en", bits)} bits; it must have ${count("en", min)} to ${count("en", max)} bits.`,
    }),
  ],
  [/^is an RSA key with an unusual/, () => publicKeyProblems.exponent],
  [/^is not an RSA, elliptic curve/, () => publicKeyProblems.kind],
];

/** The messages of the service about names, addresses, limits, times and choices. */
const ofForms: Explanations = [
  [
    /^has a control character(?:$|;)/,
    () => ({
      is: "Hér er ósýnilegt stýritákn. Skrifaðu þetta aftur.",
      en: "This contains an invisible control character. Enter it again.",
    }),
  ],
  [/is not an ASCII e-mail address of/, () => accountText.emailWrong],
  [
    /^is .*, which is not a BCP 47 code/,
    () => ({
      is: "Þetta er ekki tungumál. Veldu annað.",
      en: "This is not a language. Choose another one.",
    }),
  ],
  [
    /^cannot be changed: remove the member/,
    () => ({
      is: "Netfangi er ekki hægt að breyta. Fjarlægðu notandann og bjóddu nýja netfanginu.",
      en: "The address cannot be changed. Remove the member and invite the new address.",
    }),
  ],
  [
    /^must be at most (\d+), the limit of the key used for this call, not /,
    ([max]) => ({
      is: `Mest ${count("is", max)}: það eru mörk lykilsins sem þú skráðir þig inn með.`,
      en: `At most ${count("en", max)}: that is the limit of the key that you signed in with.`,
    }),
  ],
  [
    /^must be (?:a whole number from )?(\d+)(?: \([^)]*\))? to (\d+)(?: days)?, not /,
    ([min, max]) => ({
      is: `Þetta þarf að vera heil tala frá ${count("is", min)} til ${count("is", max)}.`,
      en: `This must be a whole number from ${count("en", min)} to ${count("en", max)}.`,
    }),
  ],
  [
    /^expected a whole number from (-?\d+) to (\d+), found /,
    ([, max]) => ({
      is: `Talan er of há: hún má mest vera ${count("is", max)}.`,
      en: `The number is too high: the limit is ${count("en", max)}.`,
    }),
  ],
  [
    /^expected a (?:whole )?number/,
    () => ({ is: "Skrifaðu heila tölu.", en: "Enter a whole number." }),
  ],
  [
    /^expected a string without unpaired surrogates/,
    () => ({
      is: "Hér er tákn sem ekki er hægt að geyma. Skrifaðu þetta aftur.",
      en: "This contains a character that cannot be stored. Enter it again.",
    }),
  ],
  [
    /^expected (?:a timestamp|a date)/,
    () => ({
      is: "Þessi dagur er ekki til. Veldu annan.",
      en: "This date does not exist. Choose another.",
    }),
  ],
  [
    /^is not in the future$/,
    () => ({
      is: "Þessi tími er liðinn. Veldu síðari.",
      en: "This time is past. Choose a later one.",
    }),
  ],
  [
    /^must be (?:in the future, )?at most (\d+) days from now$/,
    ([days]) => ({
      is: `Veldu dag innan ${count("is", days)} daga.`,
      en: `Choose a date within ${count("en", days)} days.`,
    }),
  ],
  [
    /^is not a time from 1970 to 9999$/,
    () => ({ is: "Veldu dag fyrir árið 9999.", en: "Choose a date before the year 9999." }),
  ],
  [
    /is not one of |^is required: one of /,
    () => ({ is: "Veldu eitt af því sem boðið er.", en: "Choose one of what is offered." }),
  ],
  [
    /is not a name of a model$/,
    () => ({ is: "Ekkert líkan heitir þetta.", en: "No model has this name." }),
  ],
  [
    /^is (\d+) bytes of JSON; at most (\d+) are allowed$/,
    () => ({
      is: "Upplýsingarnar um uppskriftina eru of langar samtals. Styttu þær.",
      en: "The details of the transcript are too long together. Shorten them.",
    }),
  ],
  [
    /^at least one of .* is required$|^sets no field/,
    () => ({ is: "Engu var breytt.", en: "Nothing was changed." }),
  ],
];

const explanations = [...ofPublicKeys, ...ofForms, ...jobExplanations, ...hintExplanations];

/**
 * Returns a violation that any form can cause in the console's words. Violations of imported files
 * have their own (import-violations.ts).
 */
export function formViolationText({ description }: Pick<FieldViolation, "description">): Explained {
  return explained(description, explanations);
}
