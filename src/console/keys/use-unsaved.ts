import { useEffect } from "react";

/** Has the browser ask before it leaves the page: what is shown is shown once. */
export function useUnsaved(): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, []);
}
