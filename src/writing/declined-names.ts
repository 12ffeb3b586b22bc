/**
 * Returns the forms of names, in small letters. A row is a stem and the endings of its cases, as in
 * "Helg|i|a" for Helgi and Helga; a row without endings is one form.
 */
export function formsOfNames(rows: string): Set<string> {
  const forms = new Set<string>();
  for (const row of rows.trim().split(/\s+/)) {
    const [stem = "", ...endings] = row.toLowerCase().split("|");
    for (const ending of endings.length === 0 ? [""] : endings) forms.add(stem + ending);
  }
  return forms;
}
