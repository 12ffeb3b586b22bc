/** Whether the service sends mail, and how much of it an account may cause. */
export interface AccountMail {
  readonly isSent: boolean;
  /** The maximum number of mails in 24 hours. */
  readonly perDayMax: number;
}
