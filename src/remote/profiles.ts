import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

/** Where a service is, and the key for it. */
export interface Profile {
  readonly url: string;
  readonly token: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A problem that the user can solve. The message says how. */
export class ProfileError extends Error {
  override readonly name = "ProfileError";
}

const nameDefault = "default";

/** Returns the file with all profiles: $XDG_CONFIG_HOME/hlust/profiles.json. */
function profilesFile(environment: Environment): string {
  const folder = environment["XDG_CONFIG_HOME"] || join(homedir(), ".config");
  return join(folder, "hlust", "profiles.json");
}

/**
 * Returns the profile of this name, of HLUST_PROFILE, or "default". HLUST_URL and HLUST_TOKEN take
 * precedence over its values. Throws ProfileError if the URL or the key is missing.
 */
export function readProfile(name: string | undefined, environment: Environment): Profile {
  const { HLUST_URL, HLUST_TOKEN, HLUST_PROFILE } = environment;
  const chosen = name ?? HLUST_PROFILE;
  const saved = readProfiles(environment)[chosen ?? nameDefault];
  if (chosen !== undefined && saved === undefined) {
    throw new ProfileError(
      `there is no profile ${JSON.stringify(chosen)}: run "hlust login URL --profile ${chosen}"`,
    );
  }
  const url = HLUST_URL || saved?.url;
  // A key is never sent to a service other than its own.
  const token = HLUST_TOKEN || (url === saved?.url ? saved?.token : undefined);
  if (!url) throw new ProfileError('run "hlust login URL" first, or set HLUST_URL and HLUST_TOKEN');
  if (!token) throw new ProfileError(`HLUST_TOKEN is not set, and no profile has a key of ${url}`);
  return { url: checkedUrl(url), token };
}

/** Saves a profile, in a file that only this user can read. Returns the file. */
export function saveProfile(
  name: string | undefined,
  profile: Profile | undefined,
  environment: Environment,
): string {
  const file = profilesFile(environment);
  const { [name ?? nameDefault]: _, ...others } = readProfiles(environment);
  const profiles = profile ? { ...others, [name ?? nameDefault]: profile } : others;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(profiles, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return file;
}

/** Returns an http: or https: URL without a trailing slash. Throws ProfileError. */
export function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.href.replace(/\/+$/, "");
  throw new ProfileError(
    `${JSON.stringify(text)} is not the URL of a service: it begins with https:// or http://`,
  );
}

function readProfiles(environment: Environment): Record<string, Profile> {
  const file = profilesFile(environment);
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return {};
  }
  try {
    const profiles: unknown = JSON.parse(text);
    const entries = Object.entries(Object(profiles)).filter((entry): entry is [string, Profile] =>
      isProfile(entry[1]),
    );
    return Object.fromEntries(entries);
  } catch {
    throw new ProfileError(`${file} is not JSON: correct it, or delete it and log in again`);
  }
}

function isProfile(value: unknown): value is Profile {
  const { url, token } = Object(value);
  return typeof url === "string" && typeof token === "string";
}
