import { useSearchParams } from "wouter";

/** The versions in the address of a transcript's page. */
export interface VersionAddress {
  /** The version that is shown; undefined for the newest version. */
  readonly version: string | undefined;
  /** The version whose changes are shown. */
  readonly changed: string | undefined;
  /** The version with which `changed` is compared; undefined for the previous version. */
  readonly against: string | undefined;
}

/**
 * Returns the versions in the address, and a function that changes them and leaves the rest of the
 * address unchanged.
 */
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

/** Returns the query of an address with changed versions. */
export function withAddress(before: URLSearchParams, to: Partial<VersionAddress>): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(to)) {
    if (value === undefined) after.delete(name);
    else after.set(name, value);
  }
  return after;
}
