// The shell commands of the guides for operators name commands, options, settings and files that
// exist.
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { describeSettings } from "../../src/settings/describe-settings.ts";
import { runHlust } from "../fixtures/run-hlust.ts";

const docs = resolve(import.meta.dirname, "../../docs");
const folder = mkdtempSync(join(tmpdir(), "hlust-guides-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const guides = globSync(
  ["operations.md", "install.md", "operations/*.md", "runbooks/*.md", "database.md"],
  { cwd: docs },
).toSorted();

interface Guide {
  readonly name: string;
  /** The lines of its shell blocks, without comments; lines that end in \ are joined. */
  readonly lines: readonly string[];
  /** The commands of hlust in its blocks and in its text. */
  readonly commands: readonly string[];
}

function readGuide(name: string): Guide {
  const text = readFileSync(join(docs, name), "utf8");
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = ""]) => block);
  const lines = blocks
    .join("")
    .replaceAll(/ *\\\n */g, " ")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
  // Words in backticks may continue on the next line.
  const inText = [...text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/`([^`]+)`/g)].map(
    ([, words = ""]) => words.replaceAll(/\s+/g, " "),
  );
  const commands = [...lines, ...inText].flatMap((line) =>
    // A container can be named hlust too.
    [
      ...line
        .replaceAll(/\bhlust (?=hlust )/g, "")
        .matchAll(/(?:^|[\s/])hlust (?<rest>[a-z-][^|;&>]*)/g),
    ].map(({ groups }) => groups?.["rest"]?.trim() ?? ""),
  );
  return { name, lines, commands };
}

const read = guides.map(readGuide);

/** What `hlust COMMAND --help` prints, by command. */
const helps = new Map<string, Promise<string>>();
async function helpOf(words: readonly string[]): Promise<string> {
  const name = words.join(" ");
  const known = helps.get(name);
  if (known) return await known;
  const running = runHlust([...words, "--help"], { HLUST_DATA: folder }).then(
    ({ code, out, errors }) => {
      assert.equal(code, 0, `hlust ${name} --help: ${errors}`);
      return out;
    },
  );
  helps.set(name, running);
  return await running;
}

/** Commands with commands of their own, each with a help. */
const grouped = new Set(["models", "accounts", "keys", "archive"]);

test("each command of hlust in the guides exists, with its options", async () => {
  const known = new Set(
    [...(await helpOf([])).matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = ""]) => name),
  );
  assert.ok(known.has("backup") && known.has("fsck"), [...known].join(" "));
  const unknown: string[] = [];
  let count = 0;
  for (const { name, commands } of read) {
    for (const command of commands) {
      const [first = "", ...rest] = command.split(/\s+/);
      if (!/^[a-z]+$/.test(first)) continue;
      if (!known.has(first)) unknown.push(`${name}: hlust ${command}`);
      count += 1;
      const options = rest
        .filter((word) => word.startsWith("--"))
        .map((word) => word.split("=")[0]);
      if (options.length === 0) continue;
      const [second = ""] = rest;
      const isGrouped = grouped.has(first) && /^[a-z-]+$/.test(second);
      if (!known.has(first)) continue;
      const help = await helpOf(isGrouped ? [first, second] : [first]);
      for (const option of options) {
        if (!help.includes(option ?? "")) unknown.push(`${name}: hlust ${command}: ${option}`);
      }
    }
  }
  assert.deepEqual(unknown, []);
  assert.ok(count > 30, `${count} commands`);
});

test("each setting in a command of the guides exists", () => {
  const known = describeSettings({});
  for (const { name, lines } of read) {
    for (const line of lines) {
      for (const [setting] of line.matchAll(/\b(?:HLUST|S3)_[A-Z0-9_]*[A-Z0-9]\b/g)) {
        const plain = setting.replace(/_FILE$/, "");
        const isKnown = known.includes(`${setting}\n`) || known.includes(`${plain}\n`);
        assert.ok(isKnown, `${name}: ${line}: there is no setting ${setting}`);
      }
    }
  }
});

test("each file of this project in a command of the guides exists", () => {
  const root = join(docs, "..");
  for (const { name, lines } of read) {
    const made = new Set(
      lines.flatMap((line) => [...line.matchAll(/>([\w./-]+)/g)]).map(([, path]) => path),
    );
    for (const line of lines) {
      for (const [, path = ""] of line.matchAll(
        /(?:^|\s|=)((?:deploy|script|bin|docs)\/[\w./-]+)/g,
      )) {
        if (made.has(path)) continue;
        assert.equal(globSync(path, { cwd: root }).length, 1, `${name}: ${line}: no ${path}`);
      }
    }
  }
});
