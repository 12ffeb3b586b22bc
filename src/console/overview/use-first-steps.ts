import { useCallback, useState } from "react";
import { keep, readKept } from "../api/kept.ts";

const storedName = "hlust.first-steps";

/**
 * Whether the first steps are shown next to the activity of an account: from the time that they
 * were shown to an empty account in this browser, until the user hides them.
 */
export function useFirstSteps() {
  const [isShown, setIsShown] = useState(() => readKept(storedName) === "begun");
  const begin = useCallback(() => {
    keep(storedName, "begun");
    setIsShown(true);
  }, []);
  const end = useCallback(() => {
    keep(storedName, undefined);
    setIsShown(false);
  }, []);
  return { isShown, begin, end };
}
