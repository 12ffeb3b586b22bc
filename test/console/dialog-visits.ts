import type { Page } from "playwright-core";
import type { fillAccount } from "./full-account.ts";

type Made = Awaited<ReturnType<typeof fillAccount>>;

/** A page, and the dialogs that it opens. */
interface DialogVisit {
  /** The path under /console. */
  readonly path: string | ((made: Made) => string);
  /** A selector of what the page shows before it opens dialogs. */
  readonly shown: string;
  /** Prepares the page. */
  readonly before?: (page: Page) => Promise<void>;
  /** How each dialog is opened: by the file in src/console that shows it. */
  readonly dialogs: Readonly<Record<string, (page: Page) => Promise<void>>>;
}

/** Presses the first button whose name begins with a text. */
const press = (name: string) => async (page: Page) => {
  const button = page.getByRole("button", { name: new RegExp(`^${name}`) });
  await button.first().press("Enter");
};
const pressKey = (key: string) => async (page: Page) => {
  await page.keyboard.press(key);
};

export const dialogVisits: readonly DialogVisit[] = [
  {
    path: "/transcripts",
    shown: ".transcript-row .select",
    before: async (page) => {
      await page.locator(".transcript-row .select").first().check();
    },
    dialogs: {
      "transcripts/selection-bar.tsx: RemoveDialog": press("Eyða"),
      "transcripts/selection-bar.tsx: KeywordDialog": press("Bæta við efnisorði"),
      "transcripts/selection-bar.tsx: ZipDialog": press("Sækja ZIP"),
      "commands/palette.tsx": pressKey("Control+k"),
      "commands/shortcut-list.tsx": pressKey("?"),
    },
  },
  {
    path: ({ transcript }) => transcript,
    shown: ".segment",
    dialogs: {
      "transcript/player/shortcut-sheet.tsx": press("Flýtilyklar"),
      "transcript/aside/transcribe-again-dialog.tsx": press("Skrifa upp aftur"),
      "transcript/aside/share-dialog.tsx": press("Búa til tengil"),
      "transcript/aside/revoke-dialog.tsx": press("Afturkalla tengil"),
      "transcript/aside/details-dialog.tsx": press("Breyta$"),
      "transcript/aside/delete-dialog.tsx": press("Eyða uppskriftinni"),
      "transcript/aside/compare/compare-dialog.tsx": press("Hvað breyttist"),
    },
  },
  {
    path: ({ transcript }) => transcript,
    shown: ".segment",
    before: async (page) => {
      await page.locator(".version a").nth(1).press("Enter");
      await page.locator(".version.shown a").nth(0).waitFor();
    },
    dialogs: { "transcript/aside/restore-dialog.tsx": press("Endurheimta") },
  },
  {
    path: ({ transcript }) => transcript,
    shown: ".segment",
    before: async (page) => {
      await page.keyboard.press("e");
      await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
      await page.keyboard.press("Control+Home");
    },
    dialogs: {
      "transcript/edit/speakers/speaker-palette.tsx": pressKey("F8"),
      "transcript/edit/keys/go-to-time.tsx": pressKey("Control+g"),
      "transcript/edit/keys/settings-dialog.tsx": pressKey("Shift+F1"),
      "transcript/edit/saving/note-dialog.tsx": async (page) => {
        await page.locator(".ProseMirror").focus();
        await page.keyboard.type("x");
        await pressKey("Control+Shift+s")(page);
      },
      "transcript/edit/end-question.tsx": press("Lesa$"),
    },
  },
  {
    path: "/bin",
    shown: "main li",
    dialogs: { "transcripts/bin-page.tsx": press("Eyða núna") },
  },
  {
    path: "/vocabulary",
    shown: "main li",
    dialogs: {
      "vocabulary/edit-phrase.tsx": press("Bæta við"),
      "vocabulary/import-phrases.tsx": press("Flytja inn lista"),
      "vocabulary/remove-phrase.tsx": press("Eyða: "),
    },
  },
  {
    path: "/keys",
    shown: "main li",
    dialogs: {
      "keys/new-api-key.tsx": press("Nýr API-lykill"),
      "keys/new-client-key.tsx": press("Nýr undirritunarlykill"),
      "keys/edit-key.tsx": press("Breyta lyklinum „Rechts"),
      "keys/rotate-key.tsx": press("Endurnýja lykilinn „Rechts"),
      "keys/revoke-key.tsx": press("Afturkalla lykilinn „Rechts"),
    },
  },
  {
    path: ({ webhook }) => webhook,
    shown: ".webhook-facts",
    dialogs: {
      "webhooks/edit-webhook.tsx": press("Breyta"),
      "webhooks/rotate-secret.tsx": press("Nýtt leyndarmál"),
      "webhooks/remove-webhook.tsx": press("Eyða"),
    },
  },
  {
    path: "/webhooks",
    shown: "main li",
    // Its name is that of the form for changes.
    dialogs: { "webhooks/edit-webhook.tsx: new": press("Nýr vefkrókur") },
  },
  {
    path: "/account/settings",
    shown: "main form",
    dialogs: {
      "account/confirm-shorter.tsx": async (page) => {
        const days = page.getByLabel("Upptökur, eftir komu þeirra", { exact: true });
        await days.selectOption("í 30 daga");
        await press("Vista$")(page);
      },
    },
  },
  {
    path: "/operator",
    shown: "main table",
    dialogs: { "operator/edit-limits.tsx": press("Breyta mörkum") },
  },
  {
    path: "/account",
    shown: "main li",
    dialogs: {
      "account/invite.tsx": press("Bjóða notanda"),
      "account/member-link.tsx": press("Tengill: longaddress"),
      "account/remove-member.tsx": press("Fjarlægja: longaddress"),
      "account/change-role.tsx": async (page) => {
        await page.locator("main select").first().selectOption({ index: 1 });
      },
    },
  },
];

/** The dialogs that a test of another file checks, since only it can open them. */
export const dialogsElsewhere: Readonly<Record<string, readonly string[]>> = {
  "editor-merge.test.ts": ["transcript/edit/merging/clash-dialog.tsx"],
  "live.test.ts": ["live/save-dialog.tsx"],
  "live-left.test.ts": ["live/discard-dialog.tsx"],
  "operator.test.ts": ["operator/disable-account.tsx", "operator/models.tsx"],
  "sign-out.test.ts": ["frame/sign-out-dialog.tsx"],
};
