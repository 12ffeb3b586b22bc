// Whatever a page of the console changes, it says so to those who see, too: with a message
// (useNotify), or with what the page shows afterwards, which is written here.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const source = resolve(import.meta.dirname, "../../src/console");

/** What shows that a mutation has succeeded, by file and name of the mutation. */
const shownOtherwise: Readonly<Record<string, string>> = {
  "account/audit-filter.tsx save": "it changes nothing: the browser saves a file",
  "account/member-link.tsx make": "the dialog shows the link",
  "api/use-single-keys.ts useSingleKeys": "the checkbox",
  "frame/account-menu.tsx change": "the pages of the other account",
  "frame/account-menu.tsx check": "the question, or the sign-in page",
  "frame/account-menu.tsx leave": "the sign-in page",
  "frame/sign-out-dialog.tsx leave": "the sign-in page",
  "jobs/job-failed.tsx again": "the row, and the page that has the list has a message",
  "jobs/job-running.tsx cancel": "the row of the job, and the list has a message when it ends",
  "jobs/new-job.tsx send": "the list, and the page that has it has a message",
  "jobs/remove-finished.tsx find": "the note above the list, with its undo",
  "jobs/remove-finished.tsx remove": "the note above the list goes away",
  "keys/new-api-key.tsx make": "the dialog shows the key",
  "keys/new-client-key.tsx useRegistration": "the dialog shows the key",
  "keys/rotate-key.tsx rotate": "the dialog shows the secret",
  "live/left-notes.tsx open": "the recording is open",
  "operator/model-tasks.tsx cancel": "the row of the task",
  "operator/models.tsx order": "the list of tasks has a new row",
  "overview/first-steps.tsx attempt": "the page of jobs is opened, with the upload",
  "parts/undo-message.tsx back": "the message is replaced by another one",
  "sign-in/key-form.tsx entering": "the pages of the account",
  "sign-in/link-form.tsx request": "the note below the button says that a mail was sent",
  "transcript/aside/alignment.tsx cancel": "the progress goes away",
  "transcript/aside/alignment.tsx submit": "the progress",
  "transcript/aside/share-dialog.tsx make": "the dialog shows the link",
  "transcript/aside/use-metadata-change.ts useMetadataChange": "its callers have messages",
  "transcript/edit/keys/use-edit-settings.ts useEditSettings": "the checkboxes",
  "transcript/edit/use-save.ts mutation": "the bar says that no change is unsaved",
  "transcript/use-review.ts useReviewChange": "the marks in the text",
  "transcripts/select-all.tsx useSelectAll": "the number of selected transcripts, and their rows",
  "vocabulary/candidates-choice.tsx change": "the checkbox",
  "webhooks/rotate-secret.tsx rotate": "the dialog shows the secret",
};

/** Functions that change something for mutations of other files, or without any user. */
const calledByOthers: Readonly<Record<string, string>> = {
  "account/send-invitation.ts": "the mutations of invitations",
  "api/console-settings.ts": "mutations of settings",
  "api/session.ts": "signing in and out, and changing accounts: other pages are shown",
  "import/import-file.ts": "the import page",
  "jobs/change-jobs.ts": "the mutations of the jobs page",
  "live/save-transcript.ts": "the live page, whose dialog shows it",
  "live/stream-token.ts": "a token for a stream, which is seen in that text comes",
  "operator/operator-queries.ts": "the mutations of accounts",
  "transcript/aside/alignment-job.ts": "the mutations of the alignment",
  "transcript/aside/change-metadata.ts": "the mutation of metadata",
  "transcript/edit/save-text.ts": "the mutation that saves",
  "transcript/edit/saving/draft-service.ts": "drafts are kept without the user's doing",
  "transcript/examples/examples.ts": "examples of programs, which are only shown",
  "transcript/presence/presence-reporter.ts": "others see who is present",
  "transcript/review-query.ts": "the mutation of marks",
  "transcripts/bin-calls.ts": "the bin page, the deletion, and the selection bar",
  "transcripts/bulk.ts": "the selection bar, which shows what was done",
  "upload/empty-upload.ts": "the list of uploads",
  "upload/resumable-upload.ts": "the list of uploads",
  "upload/submit-job.ts": "the mutations that submit jobs",
  "vocabulary/phrases-query.ts": "the mutations of phrases",
  "webhooks/webhooks-query.ts": "the mutations of webhooks",
};

/** Returns the text between a parenthesis and its partner. Strings have none without theirs. */
function argumentAt(text: string, open: number): string {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return text.slice(open, at);
  }
  throw new Error("a parenthesis is not closed");
}

/** Returns the variable that holds a mutation, else the function that returns it. */
function nameAt(text: string, at: number): string {
  const before = text.slice(0, at);
  const held = /(?:const|let) (\w+) = $/.exec(before)?.[1];
  return held ?? [...before.matchAll(/^(?:export )?function (\w+)/gm)].at(-1)?.[1] ?? "";
}

/** Returns the mutations of a file, and whether each says in a message what was done. */
function mutationsOf(text: string): { readonly name: string; readonly isSaid: boolean }[] {
  const notifiers = Array.from(text.matchAll(/const (\w+) = useNotify\(\)/g), ([, name]) => name);
  // A function of the file that shows a message, such as `done()`.
  const helpers = notifiers.flatMap((name) =>
    Array.from(
      text.matchAll(new RegExp(String.raw`const (\w+) = \([^)]*\) => \{\s+${name}\(`, "g")),
      ([, helper]) => helper,
    ),
  );
  const says = new RegExp(String.raw`\b(?:${[...notifiers, ...helpers].join("|") || "\\0"})\(`);
  return Array.from(text.matchAll(/\buseMutation\(/g), ({ index }) => ({
    name: nameAt(text, index),
    isSaid: says.test(argumentAt(text, index + "useMutation".length)),
  }));
}

const files = globSync("**/*.{ts,tsx}", { cwd: source })
  .filter((file) => !/\.test\.ts$|^reference\//.test(file))
  .map((file) => [file, readFileSync(join(source, file), "utf8")] as const);

test("each mutation of the console shows a message, or says in this test how it is seen", () => {
  const silent = files.flatMap(([file, text]) =>
    mutationsOf(text).flatMap(({ name, isSaid }) => (isSaid ? [] : [`${file} ${name}`])),
  );
  assert.deepEqual(silent.toSorted(), Object.keys(shownOtherwise));
});

test("only mutations, and functions that they call, change anything in the API", () => {
  const changing = /method: (?:[^,\n]* )?"(?:POST|PUT|PATCH|DELETE)"/;
  const others = files.flatMap(([file, text]) =>
    changing.test(text) && !text.includes("useMutation(") ? [file] : [],
  );
  assert.deepEqual(others.toSorted(), Object.keys(calledByOthers));
});

test("a mutation that is announced to screen readers only counts as silent", () => {
  const text = `const announce = useAnnounce();
    const save = useMutation({ mutationFn: put, onSuccess: () => announce("Saved") });
    const notify = useNotify();
    const drop = useMutation({ mutationFn: cut, onSuccess: () => notify("Cut") });`;
  assert.deepEqual(mutationsOf(text), [
    { name: "save", isSaid: false },
    { name: "drop", isSaid: true },
  ]);
});
