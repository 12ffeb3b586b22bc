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
