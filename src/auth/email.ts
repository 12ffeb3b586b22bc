/** RFC 5321, section 4.5.3.1: the longest address that mail can be sent to. */
export const emailLengthMax = 254;

/**
 * An e-mail address in the form in which it is compared: in lower case. undefined if it cannot be
 * invited. Only ASCII is accepted: other letters have look-alikes, and some (the Kelvin sign, the
 * long s) have the lower case of another letter, so that one person's address could be taken for
 * another's.
 */
export function foldEmail(text: string): string | undefined {
  if (text.length > emailLengthMax) return undefined;
  const isAddress = /^[!#-'*+\-/-9=?A-Z^-~.]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/.test(text);
  return isAddress ? text.toLowerCase() : undefined;
}
