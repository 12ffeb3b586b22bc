import { type RefObject, useEffect, useState } from "react";

/** Returns whether an element has been on the screen. */
export function useHasBeenVisible(place: RefObject<Element | null>): boolean {
  const [wasVisible, setWasVisible] = useState(false);
  useEffect(() => {
    if (wasVisible || !place.current) return undefined;
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setWasVisible(true);
    });
    watch.observe(place.current);
    return () => watch.disconnect();
  }, [wasVisible, place]);
  return wasVisible;
}
