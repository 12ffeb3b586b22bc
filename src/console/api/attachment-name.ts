/**
 * The name of a file in a Content-Disposition of the service: as it is (RFC 8187) where it is
 * given, else in ASCII; undefined for none.
 */
export function attachmentName(header: string): string | undefined {
  const whole = /filename\*=UTF-8''([^;\s]+)/i.exec(header)?.[1];
  const name = (whole && decoded(whole)) ?? /filename="([^"]*)"/i.exec(header)?.[1];
  return name === undefined || name === "" ? undefined : name;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
