import { shown } from "../std/service-error.ts";
import type { PathTemplate, TemplateSegment, TemplateVariable } from "./path-template.ts";
import { encodeFully } from "./percent-encoding.ts";

/** The value of a variable, or the reason why the variable has none. */
export type PathValue = string | { readonly problem: string };

/**
 * Reports a problem with the value of a variable. `variable` is its index in the template, where -1
 * is the template itself.
 */
export type ReportVariable = (variable: number, problem: string) => void;

/**
 * Writes the path of a template with a value for each of its variables (§4.10 item 6). This is the
 * inverse of RouteTable.match(). In a variable of one segment, all characters except unreserved
 * characters are percent-encoded; in a longer variable, "/" also stays. Reports values that the
 * template does not match. Also reports segments that are "." or "..", since clients and proxies
 * remove these from paths, even if they are encoded.
 */
export function writePath(
  { segments, variables, verb }: PathTemplate,
  values: readonly PathValue[],
  report: ReportVariable,
): string {
  const written: string[] = [];
  const owners: number[] = [];
  const put = (owner: number, parts: readonly string[]): void => {
    for (const part of parts) {
      written.push(part);
      owners.push(owner);
    }
  };
  let at = 0;
  for (const [index, variable] of variables.entries()) {
    put(-1, writeFixed(segments.slice(at, variable.start), report));
    at = variable.end === -1 ? segments.length : variable.end;
    const pattern = segments.slice(variable.start, at);
    const parts = writeVariable(variable, pattern, values[index] ?? "", (problem) => {
      report(index, problem);
    });
    put(index, parts);
  }
  put(-1, writeFixed(segments.slice(at), report));
  const end = verb === "" ? "" : `:${encodeLiteral(verb)}`;
  for (const [place, segment] of written.entries()) {
    const text = place === written.length - 1 ? segment + end : segment;
    if (text === "." || text === "..") {
      report(
        owners[place] ?? -1,
        `${shown(text)} cannot be a segment of a path: clients and proxies remove it`,
      );
    }
  }
  return `/${written.join("/")}${end}`;
}

/**
 * Writes segments outside variables. A wildcard has no value here, and "**" can match an empty
 * part.
 */
function writeFixed(segments: readonly TemplateSegment[], report: ReportVariable): string[] {
  return segments.flatMap((segment) => {
    if (segment.kind === "literal") return [encodeLiteral(segment.text)];
    if (segment.kind === "*") report(-1, 'no field says what its "*" stands for');
    return [];
  });
}

function writeVariable(
  { multi }: TemplateVariable,
  pattern: readonly TemplateSegment[],
  value: PathValue,
  report: (problem: string) => void,
): string[] {
  if (typeof value !== "string") {
    report(value.problem);
    return [];
  }
  if (!value.isWellFormed()) {
    report("it has an unpaired surrogate, which a path cannot express");
    return [];
  }
  if (!multi && value === "") {
    report("it is empty, and the path needs it");
    return [];
  }
  const parts = multi ? value.split("/") : [value];
  if (!matches(pattern, parts, multi)) {
    const expected = pattern.map((one) => (one.kind === "literal" ? one.text : one.kind)).join("/");
    report(`${shown(value)} does not match ${shown(expected)}`);
    return [];
  }
  return parts.map((part, index) => {
    const segment = multi ? pattern[index] : undefined;
    return segment?.kind === "literal" ? encodeLiteral(segment.text) : encodeFully(part);
  });
}

function matches(
  pattern: readonly TemplateSegment[],
  parts: readonly string[],
  multi: boolean,
): boolean {
  const isOpen = pattern.at(-1)?.kind === "**";
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? parts.length < fixed.length : parts.length !== fixed.length) return false;
  const rest = parts.slice(fixed.length);
  // The value of "**" cannot begin with "/" (§4.10 item 7).
  if (rest.length > 1 && rest[0] === "") return false;
  return fixed.every((segment, index) => {
    const part = parts[index] ?? "";
    if (segment.kind !== "literal") return part !== "";
    // Servers do not decode %2F in a variable of more than one segment.
    return part === (multi ? segment.text.replaceAll("/", "%2F") : segment.text);
  });
}

/** Encodes text of the template. Characters that the template grammar allows stay as they are. */
function encodeLiteral(text: string): string {
  return encodeFully(text).replaceAll(/%(?:2[146789BC]|3[BD]|40)/g, decodeURIComponent);
}
