import { useEffect, useEffectEvent } from "react";
import { useLocation } from "wouter";

/**
 * Asks for confirmation before the page is left while `isOn()` is true. When the tab is closed, the
 * browser asks. When another page of the console is opened, `ask` is called with a function that
 * opens it. If a browser cannot prevent navigation, the page is left; the recording still exists
 * when the user returns.
 */
export function useLeaveGuard(isOn: () => boolean, ask: (leave: () => void) => void): void {
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
