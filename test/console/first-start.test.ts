// The sign-in links that the first start and `hlust console` print, from real processes and opened
// in Chromium.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../fixtures/open-browser.ts";
import { startService, type ServiceProcess } from "../fault/process.ts";
import { runHlust, type EndedCommand } from "../fixtures/run-hlust.ts";
import { callRest } from "../spec/service.ts";

const parts = new AsyncDisposableStack();
let data: string;
let service: ServiceProcess;
let browser: Browser;
before(async () => {
  data = mkdtempSync(join(tmpdir(), "hlust-first-start-"));
  parts.defer(() => {
    rmSync(data, { recursive: true, force: true });
  });
  service = parts.use(await startService(data, { HLUST_ENGINE: "scripted", HLUST_ROLE: "api" }));
  browser = await openBrowser();
  parts.defer(() => browser.close());
});
after(() => parts.disposeAsync());

const hlust = (...args: string[]): Promise<EndedCommand> =>
  runHlust(args, { HLUST_DATA: data, HLUST_PUBLIC_URL: service.address });

async function follow(link: string): Promise<Page> {
  const context = await browser.newContext({ locale: "is-IS" });
  const page = await context.newPage();
  await page.goto(link);
  return page;
}

/** Returns the actor that a page is signed in as. */
async function actorOf(page: Page): Promise<string> {
  await page.getByRole("heading", { level: 1, name: "Yfirlit" }).waitFor();
  return await page.evaluate<string>(
    `fetch("/console/session").then((answer) => answer.json()).then(({ actor }) => actor)`,
  );
}

async function auditOf(action: string): Promise<Record<string, string>[]> {
  const call = { method: "GET", path: "/v1/auditEvents" };
  const { json } = await callRest(service.address, service.key, call);
  const all: Record<string, string>[] = json.auditEvents;
  return all.filter((event) => event["action"] === action);
}

test("the first start prints a link that works once and is not in the log", async () => {
  const { out, errors } = service.output();
  const [link = ""] = /http:\S+#signInToken=\S+/.exec(out) ?? assert.fail(out);
  assert.ok(link.startsWith(`${service.address}/console/#`), link);
  assert.ok(!errors.includes("signInToken") && !errors.includes("hlust_signin"), errors);
  const page = await follow(link);
  assert.match(await actorOf(page), /^apiKeys\//);
  assert.equal(page.url(), `${service.address}/console/`);

  const second = await follow(link);
  await second.getByText("Tengillinn gildir ekki lengur").waitFor();
  await second.getByRole("heading", { level: 1, name: "Skráðu þig inn" }).waitFor();
});

test("hlust console prints a link while the service runs, for the oldest key with all scopes or for a member", async () => {
  assert.equal((await hlust("keys", "create", "--scopes", "account")).code, 0);
  const made = await hlust("console");
  assert.match(made.out, /^http:\/\/\S+\/console\/#signInToken=hlust_signin_\S+\n$/, made.errors);
  const [, name] =
    /^This link opens the console as (apiKeys\/\S+) \(First key\): once, within 10 minutes\.\n$/.exec(
      made.errors,
    ) ?? assert.fail(made.errors);
  assert.equal(await actorOf(await follow(made.out.trim())), name);

  const { accounts } = JSON.parse((await hlust("accounts", "list", "--json")).out);
  const anna = ["--email", "anna@example.is", "--role", "VIEWER"];
  assert.equal((await hlust("accounts", "add-member", accounts[0].name, ...anna)).code, 0);
  const asAnna = await hlust("console", "--member", "Anna@example.is", "--json");
  const { link, name: member } = JSON.parse(asAnna.out);
  assert.match(member, /^members\/\S+ \(anna@example\.is\)$/);
  assert.equal(await actorOf(await follow(link)), member.split(" ")[0]);

  const made2 = await auditOf("sign_in_token.create");
  assert.deepEqual(
    made2.map(({ actor, resource }) => [actor, resource]),
    [
      ["operator", member.split(" ")[0]],
      ["operator", name],
    ],
  );
});

test("hlust console explains wrong arguments and creates no link", async () => {
  const rows: [args: string[], code: number, message: RegExp][] = [
    [["--member", "ann@example.is"], 1, /no member "ann@example\.is": did you mean anna@/],
    [["--key", "First ke"], 1, /no API key "First ke": did you mean apiKeys\/\S+ \(First key\)\?/],
    [["--member", "a", "--key", "b"], 2, /cannot be combined(.|\n)*Usage: hlust console/],
  ];
  const before = (await auditOf("sign_in_token.create")).length;
  for (const [args, code, message] of rows) {
    const ended = await hlust("console", ...args);
    assert.match(ended.errors, message);
    assert.deepEqual([ended.code, ended.out], [code, ""], args.join(" "));
  }
  const noAddress = await runHlust(["console"], { HLUST_DATA: data, HLUST_PORT: "0" });
  assert.match(noAddress.errors, /HLUST_PORT is 0: set HLUST_PUBLIC_URL/);
  assert.equal((await auditOf("sign_in_token.create")).length, before);

  const other = JSON.parse((await hlust("accounts", "add", "Alþingi", "--json")).out).name;
  const key = await hlust("keys", "create", "--account", other, "--scopes", "account,speech");
  assert.equal(key.code, 0, key.errors);
  const ended = await hlust("console", "--account", other);
  assert.match(ended.errors, /no API key with every scope: choose with --member or --key/);
  assert.deepEqual([ended.code, ended.out], [1, ""]);
});
