// Reads the license of a Debian package from its file /usr/share/doc/PACKAGE/copyright.
import { createHash } from "node:crypto";
import { spdxNames } from "./debian-license-names.ts";
import { reviewedCopyrights } from "./debian-reviewed.ts";

/**
 * Returns the licenses of a file `copyright` as an SPDX expression; "" if they cannot be found.
 * A file that machines can read (DEP-5) has a field `License` for each group of files: all of them
 * apply. Another one is looked up in the files that we have read. A name that SPDX does not have,
 * and that may mean something else in each package, becomes LicenseRef-SOURCE-NAME.
 */
export function debianLicense(copyright: string, source: string): string {
  if (!/^\s*Format(?:-Specification)?:/i.test(copyright)) {
    return reviewedCopyrights.get(fingerprint(copyright))?.license ?? "";
  }
  const stanzas = copyright.replaceAll("\r", "").split(/\n[ \t]*\n(?=\S)/);
  const name = /^License:[ \t]*(\S.*)$/im;
  if (stanzas.some((stanza) => /^Files:/im.test(stanza) && !name.test(stanza))) return "";
  const names = stanzas.flatMap((stanza) => name.exec(stanza)?.[1] ?? []);
  const terms = names.flatMap((name) => allOf(name.trim(), source));
  // Several terms are one expression only if each keeps its own alternatives together.
  const unique = [...new Set(terms)].toSorted();
  const isOne = unique.length === 1;
  return unique.map((term) => (!isOne && term.includes(" OR ") ? `(${term})` : term)).join(" AND ");
}

/** Returns what a file `copyright` is known by: a change makes it another one, to be read again. */
export function fingerprint(copyright: string): string {
  return createHash("sha256").update(copyright).digest("hex").slice(0, 16);
}

/** In DEP-5, "and" binds before "or", and a comma before "and" binds last. */
function allOf(name: string, source: string): string[] {
  return name.split(/,\s*(?:and\s+)?/i).flatMap((term) => {
    const alternatives = term.split(/\s+(?:and\/)?or\s+/i).map((alternative) => {
      const joined = alternative.split(/\s+and\s+/i).map((one) => spdxName(one.trim(), source));
      return [...new Set(joined)];
    });
    if (alternatives.length === 1) return alternatives[0] ?? [];
    const texts = alternatives.map((joined) =>
      joined.length > 1 ? `(${joined.join(" AND ")})` : (joined[0] ?? ""),
    );
    return [[...new Set(texts)].join(" OR ")];
  });
}

/** An exception gives more rights than its license, so that the license alone is the stricter. */
function spdxName(debianName: string, source: string): string {
  const name = debianName.replace(/[ -]with[ -].*exception.*$/i, "").replace(/~.*$/, "");
  const known = spdxNames.get(name.toLowerCase());
  return known ?? gnuName(name) ?? `LicenseRef-${source}-${name}`.replaceAll(/[^\w.-]|_/g, "-");
}

/** GPL, LGPL and GFDL: a license without a version may be used in every version. */
function gnuName(name: string): string | undefined {
  const pattern = /^(L?GPL|GFDL)(-NIV)?(?:-(\d)(?:\.(\d))?)?(\+|-or-later|-only)?$/i;
  const found = pattern.exec(name);
  if (!found) return undefined;
  const [, family = "", invariant, major, minor = "0", which] = found;
  const first =
    family.toUpperCase() === "GPL" ? "1.0" : family.toUpperCase() === "LGPL" ? "2.0" : "1.1";
  const version = major === undefined ? first : `${major}.${minor}`;
  const isLater = major === undefined || (which !== undefined && which.toLowerCase() !== "-only");
  const parts = [family.toUpperCase(), version, invariant && "no-invariants"];
  return [...parts.filter(Boolean), isLater ? "or-later" : "only"].join("-");
}
