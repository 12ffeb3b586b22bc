/**
 * The reasons why a text is not a public key. The console checks this before it sends the text
 * (keys/public-key-problem.ts).
 */
export const publicKeyProblems = {
  empty: { is: "Límdu opinbera lykilinn hér.", en: "Paste the public key here." },
  private: {
    is: "Þetta er einkalykill. Hann var ekki sendur, og á hvergi heima nema hjá þér. Skráðu opinbera helminginn: openssl pkey -in private.pem -pubout",
    en: "This is a private key. It was not sent; keep it secret. Register its public half: openssl pkey -in private.pem -pubout",
  },
  /** A private key that was sent, because its form did not show what it is. */
  sentPrivate: {
    is: "Þetta er einkalykill og hann á hvergi heima nema hjá þér. Hættu að nota hann, búðu til nýtt par og skráðu opinbera helminginn.",
    en: "This is a private key, which must stay with you. Stop using it, create a new pair, and register its public half.",
  },
  damaged: {
    is: "Þetta er PEM en enginn lykill í því. Afritaðu skrána aftur, frá fyrstu línu til síðustu.",
    en: "This is PEM without a key. Copy the file again, from its first line to its last.",
  },
  notKey: {
    is: "Þetta er JSON en ekki opinber lykill (RFC 7517).",
    en: "This is JSON, but not a public key (RFC 7517).",
  },
  notForSigning: {
    is: "Lykillinn er ekki til undirritunar: „use“ þarf að vera „sig“.",
    en: "The key is not for signatures: “use” must be “sig”.",
  },
  exponent: {
    is: "Opinber veldisvísir RSA-lykilsins er óvenjulegur; hann á að vera 65537.",
    en: "The public exponent of the RSA key is unusual; it must be 65537.",
  },
  kind: {
    is: "Þjónustan tekur við RSA-lyklum, P-256 og Ed25519, en ekki lyklum af þessari gerð.",
    en: "The service takes RSA, elliptic curve P-256 and Ed25519 keys, but not this one.",
  },
  ssh: {
    is: "Þetta er SSH-lykill. Breyttu honum í PEM: ssh-keygen -e -m pkcs8 -f lykill.pub",
    en: "This is an SSH key. Convert it to PEM: ssh-keygen -e -m pkcs8 -f key.pub",
  },
  certificate: {
    is: "Þetta er vottorð. Náðu lyklinum úr því: openssl x509 -in vottord.pem -pubkey -noout",
    en: "This is a certificate. Extract its key: openssl x509 -in certificate.pem -pubkey -noout",
  },
  set: {
    is: "Þetta er safn lykla (JWKS). Skráðu þá einn í einu.",
    en: "This is a key set (JWKS). Register the keys one at a time.",
  },
  json: {
    is: "Þetta byrjar eins og JWK en er ekki JSON. Vantar eitthvað aftan á?",
    en: "This begins like a JWK but is not valid JSON. Is the end missing?",
  },
  cut: {
    is: "Það vantar aftan á lykilinn: línan -----END PUBLIC KEY----- á að vera síðust.",
    en: "The end of the key is missing: the last line must be -----END PUBLIC KEY-----.",
  },
  unknown: {
    is: "Þetta er hvorki PEM (-----BEGIN PUBLIC KEY-----) né JWK ({…}).",
    en: "This is neither PEM (-----BEGIN PUBLIC KEY-----) nor a JWK ({…}).",
  },
  tooLong: {
    is: "Þetta er of langt til að vera lykill.",
    en: "This is too long to be a key.",
  },
} as const;
