import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Keeps the end of a growing text in view, unless the reader has scrolled up. */
export function useFollowEnd(grows: unknown): {
  /** The element that follows the text. */
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
    const onScroll = (): void => {
      const top = end.current?.getBoundingClientRect().top ?? 0;
      setIsFollowing(top < innerHeight);
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, []);
  useLayoutEffect(() => {
    if (isFollowing) show();
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the text that grows moves its end
  }, [grows, isFollowing, show]);
  const follow = useCallback(() => {
    setIsFollowing(true);
    show();
  }, [show]);
  return { end, isFollowing, follow };
}
