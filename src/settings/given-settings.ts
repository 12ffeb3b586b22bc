import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, misspelt, nearest, type Setting } from "../std/setting.ts";
import { readConfigFile, type ConfigFile, type SettingGroups } from "./config-file.ts";

export const configFileSetting: Setting<string | undefined> = {
  name: "HLUST_CONFIG",
  meaning:
    "File with settings (YAML, docs/operations.md); variables of the environment come before those in it",
  fallback: "none",
  parse: (text) => text,
};

/** Variables that begin with HLUST_ but are read only by other commands, tests and scripts. */
const readElsewhere: ReadonlySet<string> = new Set(["HLUST_TOKEN", "HLUST_VECTORS"]);

/** Settings of earlier versions, with their present names. */
const renamed: ReadonlyMap<string, string> = new Map([
  ["HLUST_DRAIN_SECONDS", "HLUST_DRAIN_DELAY"],
]);

const secretBytesMax = 1 << 16;

interface Found {
  readonly text?: string | undefined;
  /** Where it was given, unless that is the environment. */
  readonly place?: string | undefined;
}

/**
 * The settings as they were given. From the first of these that has it: the environment (NAME, or
 * NAME_FILE for a secret), the credentials of systemd ($CREDENTIALS_DIRECTORY/NAME), and the file
 * that HLUST_CONFIG names. An empty setting is an unset one.
 */
export class GivenSettings {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #file: ConfigFile | undefined;
  /** What is wrong, one problem per entry. */
  readonly problems: string[];

  constructor(environment: NodeJS.ProcessEnv, groups: SettingGroups) {
    this.#environment = environment;
    const path = environment[configFileSetting.name];
    this.#file = path ? readConfigFile(path, groups) : undefined;
    const settings = [configFileSetting, ...Object.values(groups).flat()];
    this.problems = [...unknownNames(environment, settings), ...(this.#file?.problems ?? [])];
  }

  /** Reads a setting. If it is invalid, adds a problem and returns the default. */
  read<T>(setting: Setting<T>): T {
    const { text, place } = this.#find(setting);
    try {
      return setting.parse(text === "" ? undefined : text, setting.name);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.problems.push(place === undefined ? error.message : `${place}: ${error.message}`);
      return setting.parse(undefined, setting.name);
    }
  }

  /** Returns the text of a setting, and where it was given unless that is the environment. */
  find(setting: Setting<unknown>): { readonly text: string; readonly place?: string | undefined } {
    const { text = "", place } = this.#find(setting, () => {});
    return { text, place };
  }

  #find(
    { name, secret = false }: Setting<unknown>,
    report = (problem: string) => void this.problems.push(problem),
  ): Found {
    const read = (path: string, names: string): Found => {
      try {
        return { text: secretIn(path), place: path };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        report(`${names}: ${path} cannot be read: ${reason}`);
        return {};
      }
    };
    const fileName = `${name}_FILE`;
    const [text, path] = [this.#environment[name], this.#environment[fileName]];
    if (secret && text && path) report(`${name} and ${fileName} are both set: remove one of them`);
    if (text) return { text };
    if (!secret) return this.#file?.given.get(name) ?? {};
    if (path) return read(path, fileName);
    const credential = this.#credential(name);
    if (credential !== undefined) return read(credential, `the credential ${name}`);
    const [given, inFile] = [this.#file?.given.get(name), this.#file?.given.get(fileName)];
    if (given?.text && inFile?.text) {
      report(`${inFile.place}: ${name} and ${fileName} are both set: remove one of them`);
    }
    if (given?.text || !inFile?.text) return given ?? {};
    return read(inFile.text, `${inFile.place}: ${fileName}`);
  }

  /** Returns the path of a credential of systemd, if there is one with this name. */
  #credential(name: string): string | undefined {
    const folder = this.#environment["CREDENTIALS_DIRECTORY"];
    if (!folder) return undefined;
    const path = join(folder, name);
    return statSync(path, { throwIfNoEntry: false }) && path;
  }
}

/** Reads a secret, without one line end at its end. */
function secretIn(path: string): string {
  const { size } = statSync(path);
  if (size > secretBytesMax) throw new Error(`it has ${size} bytes; at most 64 KiB are allowed`);
  const text = readFileSync(path, "utf8").replace(/\r?\n$/, "");
  if (text === "") throw new Error("it is empty");
  return text;
}

/**
 * Returns the problems with the names of variables. Each HLUST_ variable must be a setting, and no
 * other variable may have a name that is nearly that of a setting. If that setting is set as well,
 * the other variable belongs to another program.
 */
function unknownNames(
  environment: NodeJS.ProcessEnv,
  settings: readonly Setting<unknown>[],
): string[] {
  const known = new Set(
    settings.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
  );
  const unset = settings
    .map(({ name }) => name)
    .filter((name) => !environment[name] && !environment[`${name}_FILE`]);
  return Object.entries(environment).flatMap(([name, text]) => {
    if (known.has(name) || readElsewhere.has(name)) return [];
    const newName = renamed.get(name);
    if (newName !== undefined) return [`${name} is not a setting: it is called ${newName} now`];
    if (name.startsWith("HLUST_")) return [`${name} is not a setting${nearest(name, known)}`];
    const meant = text === "" ? undefined : misspelt(name, unset);
    return meant === undefined ? [] : [`${name} is not a setting: was ${meant} meant?`];
  });
}
