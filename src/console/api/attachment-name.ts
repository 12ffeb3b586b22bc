/**
 * Returns the file name in a Content-Disposition header of the service, or undefined if there is
 * none. The full name (RFC 8187) is preferred to the ASCII name.
 */
export function attachmentName(header: string): string | undefined {
  const full = /filename\*=UTF-8''([^;\s]+)/i.exec(header)?.[1];
  const name = (full && decoded(full)) ?? /filename="([^"]*)"/i.exec(header)?.[1];
  return name === undefined || name === "" ? undefined : name;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
