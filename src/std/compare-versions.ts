/**
 * Compares two versions, for example "0.9.1" and "0.10.0-rc.1": negative if the first is older,
 * positive if it is newer, 0 if they are equal. A pre-release is older than its release. The parts
 * of pre-releases compare as numbers where both are numbers, otherwise as text.
 */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [parts(one), parts(other)];
  const byNumbers = compareParts(first.numbers, second.numbers);
  if (byNumbers !== 0) return byNumbers;
  if (first.before === undefined || second.before === undefined) {
    return Number(first.before === undefined) - Number(second.before === undefined);
  }
  return compareParts(first.before, second.before);
}

interface Version {
  readonly numbers: readonly string[];
  /** The parts of a pre-release; undefined for a release. */
  readonly before: readonly string[] | undefined;
}

/** The build (`+...`) does not count. */
function parts(version: string): Version {
  const [plain = ""] = version.split("+");
  const dash = plain.indexOf("-");
  if (dash < 0) return { numbers: plain.split("."), before: undefined };
  return { numbers: plain.slice(0, dash).split("."), before: plain.slice(dash + 1).split(".") };
}

function compareParts(one: readonly string[], other: readonly string[]): number {
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    const [a, b] = [one[at], other[at]];
    if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
    const difference = Number(a) - Number(b);
    const order = Number.isNaN(difference) ? Number(a > b) - Number(a < b) : difference;
    if (order !== 0) return order;
  }
  return 0;
}
