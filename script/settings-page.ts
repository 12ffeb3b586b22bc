// Writes docs/operations/settings.md, the list of all settings, from src/settings. Run it after a
// setting has changed; test/operations.test.ts fails if the page differs.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { settingGroups } from "../src/settings/setting-groups.ts";
import type { Setting } from "../src/std/setting.ts";

const columnsMax = 100;
export const settingsPagePath = resolve(import.meta.dirname, "../docs/operations/settings.md");

const introduction = `# Settings

All settings, by the groups of the file that HLUST_CONFIG names. Each is a variable of the
environment too ([Configuration](../operations.md#configuration)). In parentheses is the default. A
*secret* can be in a file of its own, which NAME_FILE names. A setting with *reload* changes on
SIGHUP; all others need a restart. \`hlust config\` shows the values of a service.

This page is written by \`node script/settings-page.ts\`.
`;

/** Returns the text of the page. */
export function settingsPage(): string {
  const groups = Object.entries(settingGroups).map(([group, settings]) => {
    return `\n## ${group}\n\n${settings.map(entryOf).join("")}`;
  });
  return introduction + groups.join("");
}

function entryOf({ name, meaning, fallback, secret, isLive }: Setting<unknown>): string {
  const notes = [fallback, ...(secret ? ["*secret*"] : []), ...(isLive ? ["*reload*"] : [])];
  return `${wrapped(`- **${name}** (${notes.join("; ")}): ${meaning}`)}\n`;
}

/** Breaks the text of a list entry into lines. */
function wrapped(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columnsMax) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}

if (import.meta.main) writeFileSync(settingsPagePath, settingsPage());
