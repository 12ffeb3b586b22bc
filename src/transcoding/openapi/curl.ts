/**
 * Writes a call as a shell command that can be pasted, with the token in $TOKEN. `body` contains
 * JSON text.
 */
export function curlOf(call: {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether the call needs a token. Default: true. */
  readonly withToken?: boolean;
}): string {
  const { method, url, headers = {}, body, withToken = true } = call;
  const isPlain = method === "GET" || (method === "POST" && body !== undefined);
  const lines = [isPlain ? `curl ${quoted(url)}` : `curl -X ${method} ${quoted(url)}`];
  if (withToken) lines.push(`-H "Authorization: Bearer $TOKEN"`);
  for (const [name, value] of Object.entries(headers))
    lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(body)}`);
  }
  return lines.join(" \\\n  ");
}

/** Quotes a text so that it is one word for a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
