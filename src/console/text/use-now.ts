import { useEffect, useState } from "react";

/** How often texts such as "3 min ago" are updated. */
const everyMs = 30_000;

/** Returns the current time, which is updated while the page is open. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
