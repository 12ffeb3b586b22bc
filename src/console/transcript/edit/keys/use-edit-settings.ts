import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import {
  type KeptSettings,
  putSettings,
  settingsQuery,
  settingsScope,
} from "../../../api/console-settings.ts";
import { defaultSettings, type EditSettings, readSettings } from "./settings.ts";

/**
 * Returns the user's settings of the editor, which are the defaults until the service has answered,
 * and a function that changes some of them. A change is shown at once, and kept by the service. The
 * service only receives settings that were read before, so that no change removes what it has kept.
 */
export function useEditSettings(): {
  readonly settings: EditSettings;
  readonly change: (changed: Partial<EditSettings>) => void;
  /** Why the last change could not be kept. */
  readonly error: Error | null;
} {
  const queries = useQueryClient();
  const { data } = useQuery(settingsQuery);
  // Changes of settings that the service has not sent yet.
  const [early, setEarly] = useState<Partial<EditSettings>>({});
  const settings = useMemo(
    () => (data ? readSettings(data.settings["editing"]) : { ...defaultSettings, ...early }),
    [data, early],
  );
  const { mutate, error } = useMutation({
    mutationFn: async (changed: Partial<EditSettings>) => {
      const kept = await queries.ensureQueryData(settingsQuery);
      const next = withChanged(kept, changed);
      queries.setQueryData(settingsQuery.queryKey, next);
      return await putSettings(next);
    },
    scope: settingsScope,
  });
  const change = useCallback(
    (changed: Partial<EditSettings>) => {
      const { queryKey } = settingsQuery;
      const kept = queries.getQueryData(queryKey);
      if (!kept) {
        const all = { ...early, ...changed };
        setEarly(all);
        mutate(all);
        return;
      }
      // An answer that was sent before this change must not replace it.
      void queries.cancelQueries({ queryKey });
      queries.setQueryData(queryKey, withChanged(kept, changed));
      mutate(changed);
    },
    [queries, mutate, early],
  );
  return { settings, change, error };
}

function withChanged({ settings }: KeptSettings, changed: Partial<EditSettings>): KeptSettings {
  const editing = { ...readSettings(settings["editing"]), ...changed };
  return { settings: { ...settings, editing } };
}
