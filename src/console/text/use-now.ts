import { useEffect, useState } from "react";

/** So often "3 min ago" is said anew. */
const everyMs = 30_000;

/** The time, for what is said of times; it goes on while the page is open. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
