// A dialog that waits for an answer of the service cannot be closed with Escape: what it asked for
// would go on, and its failure would be shown nowhere.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const source = resolve(import.meta.dirname, "../../src/console");

/** The dialogs that may be closed while they wait, and why. */
const mayClose: Readonly<Record<string, string>> = {
  "live/save-dialog.tsx": "an upload may take long, and closing the dialog cancels it",
  "operator/models.tsx": "it is closed when the order is sent, and the page has the list of orders",
  "transcript/edit/end-question.tsx": "the bar below the text shows how the save goes",
  "transcript/edit/speakers/speaker-palette.tsx":
    "its form changes the text, and waits for nothing",
};

/** Returns the tags of dialogs in a file, each with what is within it. */
function dialogsIn(file: string): { readonly tag: string; readonly content: string }[] {
  const text = readFileSync(join(source, file), "utf8");
  const found = text.matchAll(/<DialogBox\b(.*?[^=])>\n(.*?)<\/DialogBox>/gs);
  return Array.from(found, ([, tag = "", content = ""]) => ({ tag, content }));
}

test("a dialog with a form, or a button that waits for the service, is locked while it does", () => {
  const files = globSync("**/*.tsx", { cwd: source });
  const waiting = files.flatMap((file) =>
    dialogsIn(file)
      .filter(({ content }) => /isPending=\{|<[A-Z]\w*Form\b/.test(content))
      .map(({ tag }) => ({ file, isLocked: /\bisLocked\b/.test(tag) })),
  );
  assert.ok(waiting.length > 15, `${waiting.length} dialogs wait`);
  const unlocked = waiting.filter(({ isLocked }) => !isLocked).map(({ file }) => file);
  assert.deepEqual(unlocked.toSorted(), Object.keys(mayClose).toSorted());
});
