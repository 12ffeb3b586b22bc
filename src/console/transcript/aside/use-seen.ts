import { type RefObject, useEffect, useState } from "react";

/** Whether something has ever been on the screen. */
export function useSeen(place: RefObject<Element | null>): boolean {
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    if (isSeen || !place.current) return undefined;
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setIsSeen(true);
    });
    watch.observe(place.current);
    return () => watch.disconnect();
  }, [isSeen, place]);
  return isSeen;
}
