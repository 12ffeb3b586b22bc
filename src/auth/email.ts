/** The maximum length of an address to which mail can be sent (RFC 5321, section 4.5.3.1). */
export const emailLengthMax = 254;

/** The form of an address in ASCII. */
export const emailPattern = /^[!#-'*+\-/-9=?A-Z^-~.]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/;

/**
 * Returns an e-mail address in lower case, the form in which addresses are compared, or undefined
 * if the address cannot be invited. Only ASCII is accepted: other letters have look-alikes, and
 * some (the Kelvin sign, the long s) have the lowercase form of another letter. One person's
 * address could then be mistaken for another's.
 */
export function foldEmail(text: string): string | undefined {
  if (text.length > emailLengthMax) return undefined;
  return emailPattern.test(text) ? text.toLowerCase() : undefined;
}
