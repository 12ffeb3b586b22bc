import { queryOptions } from "@tanstack/react-query";
import { callConsole } from "./call-api.ts";

/** What the user has kept for the console (docs/console.md), by the part that it is for. */
export interface KeptSettings {
  readonly settings: Readonly<Record<string, unknown>>;
}

export const settingsQuery = queryOptions({
  queryKey: ["console-settings"],
  queryFn: ({ signal }) => callConsole<KeptSettings>("/console/settings", { signal }),
  staleTime: 60_000,
});

/** Changes of settings are sent one after another, since each sends all settings. */
export const settingsScope = { id: "console-settings" } as const;

/** Replaces all settings. */
export async function putSettings(body: KeptSettings): Promise<KeptSettings> {
  return await callConsole<KeptSettings>("/console/settings", { method: "PUT", body });
}
