/** Returns lines of cells as CSV (RFC 4180). Texts are cells of csvCell(). */
export function csvText(lines: readonly (readonly (string | number)[])[]): string {
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** Returns a text as a cell. Spreadsheets run cells that begin with =, +, - or @: they get a '. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
