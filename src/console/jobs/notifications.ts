import { keep, readKept } from "../api/kept.ts";

const kept = "hlust.notifications";

/** Returns whether this browser can show notifications. */
export function canNotify(): boolean {
  return "Notification" in globalThis;
}

/** Returns whether the user has asked for notifications, and the browser still allows them. */
export function isNotifying(): boolean {
  return canNotify() && readKept(kept) === "true" && Notification.permission === "granted";
}

/**
 * Turns notifications on or off in this browser. Asks the browser for permission if it has not
 * decided yet. Returns whether they are on.
 */
export async function setNotifying(isOn: boolean): Promise<boolean> {
  const isAllowed = isOn && (await Notification.requestPermission()) === "granted";
  keep(kept, isAllowed ? "true" : undefined);
  return isAllowed;
}
