import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useContext, useEffect, useState } from "react";
import { areSingleKeysOn, singleKeysKeptAs } from "../parts/single-keys.ts";
import { usePageUsed } from "../parts/use-page-used.ts";
import {
  type KeptSettings,
  putSettings,
  settingsQuery,
  settingsScope,
} from "./console-settings.ts";
import { keep } from "./kept.ts";
import { SessionContext } from "./use-session.ts";

/**
 * Returns whether shortcuts of a single key are on, and a function that turns them on or off. The
 * service keeps the choice for the user, and this browser a copy, which counts until the service
 * has answered. The service is asked once the page is used; visitors of a shared transcript have
 * only the copy.
 */
export function useSingleKeys(): {
  readonly isOn: boolean;
  readonly change: (isOn: boolean) => void;
  /** Why the last change could not be kept. */
  readonly error: Error | null;
} {
  const queries = useQueryClient();
  const isSignedIn = useContext(SessionContext) !== undefined;
  const { data } = useQuery({ ...settingsQuery, enabled: usePageUsed() && isSignedIn });
  const [copy, setCopy] = useState(areSingleKeysOn);
  // What the user has just chosen counts at once: the query has it only after some promises, and a
  // checkbox that is not changed in its event goes back.
  const [chosen, setChosen] = useState<boolean>();
  const isOn = chosen ?? (data ? isOnIn(data) : copy);
  useEffect(() => {
    if (data) keep(singleKeysKeptAs, isOn ? undefined : "off");
  }, [data, isOn]);
  const { mutate, error } = useMutation({
    mutationFn: async (isOn: boolean) => {
      const kept = await queries.ensureQueryData(settingsQuery);
      // An answer that was sent before this change must not replace it.
      await queries.cancelQueries({ queryKey: settingsQuery.queryKey });
      const next = { settings: { ...kept.settings, shortcuts: { singleKeys: isOn } } };
      queries.setQueryData(settingsQuery.queryKey, next);
      return await putSettings(next);
    },
    onSettled: (_answer, _error, sent) => setChosen((last) => (last === sent ? undefined : last)),
    scope: settingsScope,
  });
  const change = (next: boolean): void => {
    keep(singleKeysKeptAs, next ? undefined : "off");
    setCopy(next);
    if (!isSignedIn) return;
    setChosen(next);
    mutate(next);
  };
  return { isOn, change, error };
}

/** Whether single keys are on in settings of the service, as they are until they are turned off. */
export function isOnIn({ settings: { shortcuts } }: KeptSettings): boolean {
  const isObject = typeof shortcuts === "object" && shortcuts !== null;
  return !(isObject && "singleKeys" in shortcuts && shortcuts.singleKeys === false);
}
