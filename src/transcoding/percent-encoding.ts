/**
 * Decodes every escape. Throws URIError for a malformed escape or for bytes that are not UTF-8.
 */
export function decodeFully(text: string): string {
  return text.includes("%") ? decodeURIComponent(text) : text;
}

/**
 * Decodes every escape except "%2F", which stays as written (§4.10 item 6). Throws URIError in the
 * same cases as decodeFully().
 */
export function decodeKeepingSlashes(text: string): string {
  if (!text.includes("%")) return text;
  return decodeURIComponent(text.replace(/%2f/gi, (escape) => `%25${escape.slice(1)}`));
}

/** Whether every escape is complete and the bytes of each run of escapes are UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    decodeFully(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Decodes unescaped UTF-8, which some clients send in a request target and which node:http returns
 * as one character per byte. Returns undefined if the bytes are not UTF-8.
 */
export function utf8OfRawBytes(text: string): string | undefined {
  if (!/[\u0080-\u00ff]/.test(text) || /[\u0100-\uffff]/.test(text)) return text;
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Encodes every character except `-_.~0-9A-Za-z` (§4.10 item 6). Throws URIError for an unpaired
 * surrogate.
 */
export function encodeFully(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => escapeOf(char));
}

function escapeOf(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}
