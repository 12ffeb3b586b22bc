import { readFileSync, statSync } from "node:fs";
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Node } from "yaml";
import { closest, type Setting } from "../std/setting.ts";

/** The settings by the name of their group in a configuration file. */
export type SettingGroups = Readonly<Record<string, readonly Setting<unknown>[]>>;

/** A setting as it was given, with the place: `file:line:column`. */
export interface GivenText {
  readonly text: string;
  readonly place: string;
}

/** What a configuration file has: the settings by name, and a line for each problem. */
export interface ConfigFile {
  readonly given: ReadonlyMap<string, GivenText>;
  readonly problems: readonly string[];
}

const fileBytesMax = 1 << 20;

/**
 * Reads a YAML file with groups of settings, which have the names of the environment variables. The
 * values are not parsed. A list is for settings with several values. Never throws.
 */
export function readConfigFile(path: string, groups: SettingGroups): ConfigFile {
  try {
    const { size } = statSync(path);
    if (size > fileBytesMax) {
      return refused(`HLUST_CONFIG: ${path} has ${size} bytes; at most 1 MiB is allowed`);
    }
    return parseConfigFile(readFileSync(path, "utf8"), path, groups);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refused(`HLUST_CONFIG: ${path} cannot be read: ${reason}`);
  }
}

function refused(problem: string): ConfigFile {
  return { given: new Map(), problems: [problem] };
}

/** Does the same for the text of a file. */
export function parseConfigFile(text: string, path: string, groups: SettingGroups): ConfigFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeOf = (at: number) => {
    const { line, col } = lines.linePos(at);
    return `${path}:${line}:${col}`;
  };
  const problems = document.errors.map(({ pos, message }) => `${placeOf(pos[0])}: ${message}`);
  if (problems.length > 0) return { given: new Map(), problems };
  const file = new FileReader(placeOf, groups);
  if (document.contents) file.readGroups(document.contents);
  return file;
}

/** Reads the nodes of a file, and collects what is wrong. */
class FileReader implements ConfigFile {
  readonly given = new Map<string, GivenText>();
  readonly problems: string[] = [];
  readonly #placeOf: (at: number) => string;
  readonly #groups: SettingGroups;
  /** The settings that a file may have, and those with a secret under the name of its file too. */
  readonly #settings = new Map<string, { readonly group: string; readonly isList: boolean }>();

  constructor(placeOf: (at: number) => string, groups: SettingGroups) {
    this.#placeOf = placeOf;
    this.#groups = groups;
    for (const [group, settings] of Object.entries(groups)) {
      for (const { name, isList = false, secret } of settings) {
        this.#settings.set(name, { group, isList });
        if (secret) this.#settings.set(`${name}_FILE`, { group, isList: false });
      }
    }
  }

  readGroups(contents: Node): void {
    const names = Object.keys(this.#groups);
    for (const { key, name, value } of this.#entries(contents, "the file")) {
      const known = this.#settings.get(name);
      if (known) this.#report(key, `${name} belongs into the group ${known.group}`);
      else if (names.includes(name)) this.#readGroup(name, value);
      else {
        const hint = closest(name, names);
        this.#report(key, `${name} is not a group of settings${hint}; groups: ${names.join(", ")}`);
      }
    }
  }

  #readGroup(group: string, contents: unknown): void {
    for (const { key, name, value } of this.#entries(contents, `the group ${group}`)) {
      const known = this.#settings.get(name);
      if (!known) {
        this.#report(key, `${name} is not a setting${closest(name, this.#settings.keys())}`);
      } else if (known.group !== group) {
        this.#report(key, `${name} belongs into the group ${known.group}, not into ${group}`);
      } else {
        this.#readValue(name, value, known.isList);
      }
    }
  }

  #readValue(name: string, value: unknown, isList: boolean): void {
    if (!isNode(value)) return;
    const text = textOf(value);
    if (text !== undefined) this.#keep(name, value, text);
    else if (!isSeq(value)) this.#report(value, `${name} must be a value, not a group`);
    else if (!isList) this.#report(value, `${name} must be one value, not a list`);
    else {
      const items = value.items.map((item) => {
        const entry = isNode(item) ? textOf(item) : undefined;
        if (entry === undefined || entry === "" || entry.includes(",")) {
          const at = isNode(item) ? item : value;
          this.#report(at, `${name} must be a list of values, each without a comma`);
        }
        return entry;
      });
      this.#keep(name, value, items.join(","));
    }
  }

  /** Returns the entries of a group; nothing for an empty one. */
  #entries(
    contents: unknown,
    what: string,
  ): { readonly key: Node; readonly name: string; readonly value: unknown }[] {
    if (!isNode(contents) || (isScalar(contents) && contents.value === null)) return [];
    if (!isMap(contents)) {
      this.#report(contents, `${what} must have names with values, such as NAME: value`);
      return [];
    }
    return contents.items.flatMap(({ key, value }) => {
      if (!isScalar(key)) return [];
      return [{ key, name: String(key.value), value }];
    });
  }

  #keep(name: string, { range }: Node, text: string): void {
    this.given.set(name, { text, place: this.#placeOf(range?.[0] ?? 0) });
  }

  #report({ range }: Node, problem: string): void {
    this.problems.push(`${this.#placeOf(range?.[0] ?? 0)}: ${problem}`);
  }
}

/**
 * Returns a scalar as it is written, so that YAML does not change numbers; empty for null. Returns
 * undefined for other nodes.
 */
function textOf(node: Node): string | undefined {
  if (!isScalar(node)) return undefined;
  if (node.value === null) return "";
  return typeof node.value === "string" ? node.value : (node.source ?? JSON.stringify(node.value));
}
