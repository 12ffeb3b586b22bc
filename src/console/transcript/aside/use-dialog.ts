import { usePageUsed } from "../../parts/use-page-used.ts";
import { useLoaded } from "../use-loaded.ts";

/**
 * Returns a dialog of the aside, which is not part of the first load; undefined until it is loaded.
 * It is loaded soon after the user begins to use the page, so that it opens without a delay, or at
 * once if it `isOpen`.
 */
export function useDialog<Dialog>(
  load: () => Promise<Dialog>,
  isOpen: boolean,
): Dialog | undefined {
  const isUsed = usePageUsed();
  return useLoaded(load, isOpen, isUsed);
}
