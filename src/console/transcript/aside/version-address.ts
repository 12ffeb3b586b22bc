import { useSearchParams } from "wouter";

/** What the address of a transcript's page says of versions. */
export interface VersionAddress {
  /** The version that is looked at; undefined: the newest. */
  readonly version: string | undefined;
  /** The version whose changes are looked at. */
  readonly changed: string | undefined;
  /** What it is compared with; undefined: the one before. */
  readonly against: string | undefined;
}

/** Reads the versions in the address, and goes to others; the rest of it stays. */
export function useVersionAddress(): readonly [
  VersionAddress,
  (to: Partial<VersionAddress>) => void,
] {
  const [search, setSearch] = useSearchParams();
  const read = (name: string) => search.get(name) ?? undefined;
  const address = { version: read("version"), changed: read("changed"), against: read("against") };
  const go = (to: Partial<VersionAddress>) => {
    setSearch((before) => withAddress(before, to));
  };
  return [address, go];
}

/** The query of an address with other versions in it. */
export function withAddress(before: URLSearchParams, to: Partial<VersionAddress>): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(to)) {
    if (value === undefined) after.delete(name);
    else after.set(name, value);
  }
  return after;
}
