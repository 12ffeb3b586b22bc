import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { callConsole } from "../../../api/call-api.ts";
import { defaultSettings, type EditSettings, readSettings } from "./settings.ts";

/** What the user has kept for the console (docs/console.md); the editor has the field `editing`. */
interface KeptSettings {
  readonly settings: Readonly<Record<string, unknown>>;
}

const settingsQuery = queryOptions({
  queryKey: ["console-settings"],
  queryFn: ({ signal }) => callConsole<KeptSettings>("/console/settings", { signal }),
  staleTime: 60_000,
});

/**
 * Returns the user's settings of the editor, which are the defaults until the service has answered,
 * and a function that changes some of them. A change is shown at once, and kept by the service.
 */
export function useEditSettings(): {
  readonly settings: EditSettings;
  readonly change: (changed: Partial<EditSettings>) => void;
  /** Why the last change could not be kept. */
  readonly error: Error | null;
} {
  const queries = useQueryClient();
  const { data } = useQuery(settingsQuery);
  const settings = useMemo(
    () => (data ? readSettings(data.settings["editing"]) : defaultSettings),
    [data],
  );
  const { mutate, error } = useMutation({
    mutationFn: (next: KeptSettings) =>
      callConsole<KeptSettings>("/console/settings", { method: "PUT", body: next }),
    scope: { id: "console-settings" },
  });
  const change = useCallback(
    (changed: Partial<EditSettings>) => {
      const before = queries.getQueryData(settingsQuery.queryKey)?.settings ?? {};
      const editing = { ...readSettings(before["editing"]), ...changed };
      const next = { settings: { ...before, editing } };
      queries.setQueryData(settingsQuery.queryKey, next);
      mutate(next);
    },
    [queries, mutate],
  );
  return { settings, change, error };
}
