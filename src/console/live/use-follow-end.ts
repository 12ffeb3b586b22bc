import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Keeps the end of a growing text in sight, unless the reader has gone up in it. */
export function useFollowEnd(grows: unknown): {
  /** Stands after the text. */
  readonly end: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  readonly follow: () => void;
} {
  const end = useRef<HTMLDivElement>(null);
  const [isFollowing, setIsFollowing] = useState(true);
  const show = useCallback(() => {
    end.current?.scrollIntoView({ block: "nearest", behavior: "instant" });
  }, []);
  useEffect(() => {
    const look = (): void => {
      const top = end.current?.getBoundingClientRect().top ?? 0;
      setIsFollowing(top < innerHeight);
    };
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  useLayoutEffect(() => {
    if (isFollowing) show();
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the end is elsewhere then
  }, [grows, isFollowing, show]);
  const follow = useCallback(() => {
    setIsFollowing(true);
    show();
  }, [show]);
  return { end, isFollowing, follow };
}
