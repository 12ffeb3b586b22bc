// Prints the file `copyright` of the Debian package, from the list of its parts (SBOM).
import { readFileSync } from "node:fs";
import process from "node:process";

interface Part {
  readonly name: string;
  readonly version?: string;
  readonly licenses?: readonly { readonly expression: string }[];
  /** What is inside its compiled files. */
  readonly components?: readonly Part[];
}

const [file = ""] = process.argv.slice(2);
const { components }: { components: readonly Part[] } = JSON.parse(readFileSync(file, "utf8"));
const parts = components.flatMap((part) => [
  line(part),
  ...(part.components ?? []).map((inside) => ` ${line(inside)}`),
]);

function line({ name, version, licenses = [] }: Part): string {
  const license = licenses.map(({ expression }) => expression).join(" ") || "see its folder";
  return ` ${[name, version].filter(Boolean).join(" ")}: ${license}`;
}

process.stdout.write(`Hlust is licensed under Apache-2.0 (/usr/share/common-licenses/Apache-2.0).

/usr/lib/hlust/node_modules has these packages of others, and under each what is inside its compiled
files. The text of each license is in the package's folder, as its authors publish it, and in
/usr/lib/hlust/deploy/notices.txt for packages that have none.

${parts.join("\n")}
`);
