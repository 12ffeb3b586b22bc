import { checkMediaUrl, type MediaAllowList } from "../media/media-url.ts";
import { shown, type Violations } from "../std/service-error.ts";
import { eventTypes } from "./webhook-events.ts";

/**
 * Checks everything that is known before the name is resolved; the address is checked for each
 * message.
 */
export function checkUrl(url: string, allow: MediaAllowList, violations: Violations): void {
  const violation = url === "" ? "is required" : checkMediaUrl(url, allow);
  if (violation !== undefined) violations.add("url", violation);
}

/** Returns each type once, in the order of the contract. */
export function checkEventTypes(names: readonly string[], violations: Violations): string[] {
  for (const [index, name] of names.entries()) {
    if (!eventTypes.some((type) => type === name)) {
      const known = eventTypes.join(", ");
      violations.add(`eventTypes[${index}]`, `${shown(name)} is not one of ${known}`);
    }
  }
  return eventTypes.filter((type) => names.includes(type));
}
