/**
 * The first match counts, because the user agents of newer browsers contain the names of older
 * ones.
 */
const browsers = [
  [/\bEdg(?:A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;

const systems = [
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/**
 * Returns the browser and system of a User-Agent, such as "Firefox, Windows"; "" if neither is
 * known.
 */
export function browserName(userAgent: string): string {
  const [browser, system] = [browsers, systems].map(
    (known) => known.find(([form]) => form.test(userAgent))?.[1],
  );
  return [browser, system].filter((name) => name !== undefined).join(", ");
}
