import { createHlustClient, type HlustClient } from "../client/hlust-client.ts";
import type { OptionTable } from "../cli/options.ts";
import { readProfile, type Profile } from "./profiles.ts";

/** The options of every command that calls a service. */
export const profileOptions = {
  profile: { hint: "NAME", meaning: "the profile of `hlust login` (HLUST_PROFILE, else default)" },
} as const satisfies OptionTable;

/** Returns a client of the service of a profile. */
export function connect(
  name: string | undefined,
  environment: NodeJS.ProcessEnv,
): { readonly hlust: HlustClient; readonly profile: Profile } {
  const profile = readProfile(name, environment);
  return { profile, hlust: createHlustClient({ ...profile, defaultTimeoutMs: 120_000 }) };
}
