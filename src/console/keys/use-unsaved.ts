import { useEffect } from "react";

/**
 * Makes the browser ask for confirmation before the page is left, because the secret on it is shown
 * only once.
 */
export function useUnsaved(): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, []);
}
