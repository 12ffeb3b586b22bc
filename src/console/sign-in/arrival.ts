/**
 * The content of the address's fragment: the token of a sign-in link, or the reason why signing in
 * with the provider failed.
 */
export type Arrival =
  | { readonly signInToken: string }
  /** A reason from docs/console.md, or any other text, because anyone can write an address. */
  | { readonly problem: string };

/**
 * Reads the fragment of an address. Returns undefined if the fragment contains neither a token nor
 * a problem.
 */
function readArrival(hash: string): Arrival | undefined {
  const [, name, value = ""] = /^#(signInToken|problem)=([^&]*)/.exec(hash) ?? [];
  if (name === "signInToken") return { signInToken: value };
  return name === "problem" ? { problem: value } : undefined;
}

/**
 * Reads the fragment and removes it from the address, and so from the browser's history, before
 * anything else runs. The token opens the console for anyone who has it.
 */
export function takeArrival(): Arrival | undefined {
  const arrival = readArrival(location.hash);
  if (arrival) history.replaceState(history.state, "", location.pathname + location.search);
  return arrival;
}

/** The arrival for this page load. main.tsx imports this file before all others. */
export const firstArrival = takeArrival();
