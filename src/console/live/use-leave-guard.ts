import { useEffect, useEffectEvent } from "react";
import { useLocation } from "wouter";

/**
 * While `isOn()`, leaving the page asks: the browser by itself where the tab goes, and `ask` where
 * another page of the console is gone to, with what then goes there. A browser that cannot hold
 * back a page goes; what was said waits for the return to the page.
 */
export function useLeaveGuard(isOn: () => boolean, ask: (goOn: () => void) => void): void {
  const [, navigate] = useLocation();
  const onNavigate = useEffectEvent((event: NavigateEvent): void => {
    const { destination, cancelable, hashChange } = event;
    const url = new URL(destination.url);
    if (!isOn() || !cancelable || hashChange || !destination.sameDocument) return;
    if (url.pathname === location.pathname) return;
    event.preventDefault();
    const path = url.pathname.replace(/^\/console/, "") + url.search + url.hash;
    ask(() => navigate(path));
  });
  const onUnload = useEffectEvent((event: BeforeUnloadEvent): void => {
    if (isOn()) event.preventDefault();
  });
  useEffect(() => {
    const off = new AbortController();
    const { signal } = off;
    addEventListener("beforeunload", onUnload, { signal });
    if ("navigation" in window) navigation.addEventListener("navigate", onNavigate, { signal });
    return () => off.abort();
  }, []);
}
