/** The SMTP server that takes the mail of this service. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /**
   * "tls": TLS from the first byte (smtps). "starttls": the connection must change to TLS before
   * anything is sent. "off": cleartext, for a server on this machine.
   */
  readonly encryption: "tls" | "starttls" | "off";
  /** The user and the password; undefined if the server needs none. */
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

/** An address with the name that mail programs show; "" for none. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** How this service sends mail. */
export interface MailOptions {
  readonly server: SmtpServer;
  readonly from: Mailbox;
  /** The public address of the service, with which the links in mail begin. */
  readonly publicUrl: string;
}

/** The languages in which mail is written. */
export const mailLanguages = ["is", "en"] as const;
export type MailLanguage = (typeof mailLanguages)[number];
