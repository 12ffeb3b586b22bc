/**
 * What the address brings along after its # for signing in: the token of a link, or why signing in
 * elsewhere went wrong.
 */
export type Arrival =
  | { readonly signInToken: string }
  /** A reason of docs/console.md, or whatever somebody has written there. */
  | { readonly problem: string };

/** undefined: nothing of the kind. */
export function readArrival(hash: string): Arrival | undefined {
  const [, name, value = ""] = /^#(signInToken|problem)=([^&]*)/.exec(hash) ?? [];
  if (name === "signInToken") return { signInToken: value };
  return name === "problem" ? { problem: value } : undefined;
}

/**
 * Takes it out of the address, and so out of the browser's history, at once: the token opens the
 * console for whoever has it. Nothing is asked of anybody before.
 */
export function takeArrival(): Arrival | undefined {
  const arrival = readArrival(location.hash);
  if (arrival) history.replaceState(history.state, "", location.pathname + location.search);
  return arrival;
}

/** What this page was opened with; main.tsx imports this file before all others. */
export const firstArrival = takeArrival();
