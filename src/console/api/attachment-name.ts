/**
 * The file name in a Content-Disposition header of the service: the full one (RFC 8187) if there is
 * one, else the ASCII one; undefined if there is none.
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
