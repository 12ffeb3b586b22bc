import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { refusal } from "../../test/fixtures/refusal.ts";
import { openWebhooks, type WebhooksFixture } from "../../test/fixtures/webhooks-fixture.ts";
import { webhookCalls } from "../../test/fixtures/webhook-calls.ts";
import {
  CreateWebhookRequestSchema,
  WebhookDelivery_State as State,
  type Webhook,
  type WebhookSchema,
} from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { parseMediaAllowList } from "../media/media-url.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { createPageTokens } from "../std/page-token.ts";
import { insertDeliveries } from "./delivery-store.ts";
import { createWebhooksService } from "./webhooks-service.ts";

let fixture: WebhooksFixture;
let calls: ReturnType<typeof webhookCalls>;
before(async () => {
  fixture = await openWebhooks();
  calls = webhookCalls(fixture);
});
after(() => fixture[Symbol.asyncDispose]());

const url = "https://hooks.example/event";

test("a webhook is created as requested, and only that response contains its secret", async () => {
  const account = await fixture.addAccount();
  const { webhook, secret } = await fixture.make(account, {
    url,
    displayName: "Fréttastofa",
    eventTypes: ["transcriptjob.failed", "transcriptjob.failed"],
  });
  assert.match(webhook.name, /^webhooks\/[\da-f-]{36}$/);
  assert.deepEqual(
    [webhook.url, webhook.displayName, webhook.eventTypes, webhook.disabled],
    [url, "Fréttastofa", ["transcriptjob.failed"], false],
  );
  assert.equal(Buffer.from(secret.slice("whsec_".length), "base64").length, 32);
  assert.deepEqual(await calls.get(account, webhook.name), webhook);
  assert.deepEqual(await calls.list(account), [webhook]);
  const { webhook: younger } = await fixture.make(account, { url });
  assert.deepEqual(
    (await calls.list(account)).map(({ name }) => name),
    [younger.name, webhook.name],
  );
  await calls.remove(account, webhook.name);
  assert.equal((await calls.list(account)).length, 1);
  assert.equal((await refusal(calls.get(account, webhook.name))).reason, "WEBHOOK_NOT_FOUND");
});

test("URLs of every forbidden kind are refused by field, value and limit, with all violations reported together", async () => {
  const account = await fixture.addAccount();
  const strict = createWebhooksService({
    db: fixture.database.db,
    pageTokens: createPageTokens(Buffer.alloc(32)),
    allow: parseMediaAllowList([]),
    log: createLog("silent"),
  });
  const make = async (request: MessageInitShape<typeof CreateWebhookRequestSchema>) =>
    await strict.createWebhook(create(CreateWebhookRequestSchema, request), fixture.call(account));
  const rows: [url: string, words: RegExp][] = [
    ["", /is required/],
    ["hooks.example/x", /must begin with https:\/\/ or http:\/\//],
    ["ftp://hooks.example/x", /begins with "ftp:": it must begin with https:\/\//],
    ["file:///etc/passwd", /https:\/\//],
    ["https://me:secret@hooks.example/", /user name or password/],
    ["https://hooks.example:8443/", /the port 8443: only 80 and 443 are allowed/],
    ["https://hooks.example/a b", /spaces, .* not allowed/],
    ["https://hooks.example/\u0000", /spaces, control characters and backslashes are not allowed/],
    ["https:\\\\hooks.example", /backslashes/],
    [`https://hooks.example/${"x".repeat(8192)}`, /has 8214 characters; at most 8192/],
    ["http://localhost/", /not public/],
    ["http://10.0.0.1/", /not public/],
    ["http://169.254.169.254/latest", /not public/],
    ["http://[::1]/", /not public/],
    ["http://[::ffff:10.0.0.1]/", /not public/],
    ["http://2130706434/", /not public/],
    ["http://0x7f.2/", /not public/],
    ["http://192.168.1.1:22/", /not public/],
  ];
  for (const [bad, words] of rows) {
    const { code, violations } = await refusal(make({ url: bad }));
    assert.equal(code, "invalid_argument", bad);
    assert.deepEqual(
      violations.map(({ field }) => field),
      ["url"],
      bad,
    );
    assert.match(violations[0]?.description ?? "", words);
  }
  const { violations } = await refusal(
    make({
      url: "http://10.0.0.1/",
      displayName: "\u0007".padEnd(201, "x"),
      eventTypes: ["transcriptjob.failed", "transcriptjob.started"],
    }),
  );
  assert.deepEqual(
    violations.map(({ field }) => field),
    ["url", "displayName", "displayName", "eventTypes[1]"],
  );
  assert.match(violations[3]?.description ?? "", /"transcriptjob.started" is not one of/);
  assert.deepEqual(await calls.list(account), []);
});

test("an update changes the fields in its mask, or those that are set without a mask, and nothing if any is invalid", async () => {
  const account = await fixture.addAccount();
  const { webhook } = await fixture.make(account, { url, displayName: "one" });
  const { name } = webhook;
  const other = "https://hooks.example/other";
  const rows: [
    change: MessageInitShape<typeof WebhookSchema>,
    paths: string[],
    changed: Partial<Pick<Webhook, "url" | "displayName" | "eventTypes" | "disabled">>,
  ][] = [
    [{ displayName: "two" }, [], { displayName: "two" }],
    [{ url: other, displayName: "x" }, ["url"], { url: other }],
    [{ eventTypes: ["transcriptjob.failed"] }, [], { eventTypes: ["transcriptjob.failed"] }],
    [{}, ["event_types", "display_name", "name"], { eventTypes: [], displayName: "" }],
    [{ disabled: true }, [], { disabled: true }],
    [{}, ["disabled"], { disabled: false }],
  ];
  const expected = { ...webhook };
  for (const [change, paths, changed] of rows) {
    Object.assign(expected, changed);
    assert.deepEqual(await calls.update(account, { name, ...change }, ...paths), expected);
    assert.deepEqual(await calls.get(account, name), expected);
  }
  const bad: [change: MessageInitShape<typeof WebhookSchema>, paths: string[], fields: string[]][] =
    [
      [{}, [], ["webhook"]],
      [{ disabledReason: "x" }, ["disabledReason"], ["webhook"]],
      [{ url: "http://127.0.0.2/", displayName: "x".repeat(201) }, [], ["url", "displayName"]],
      [{}, ["url"], ["url"]],
      [{ displayName: "x", eventTypes: ["all"] }, [], ["eventTypes[0]"]],
      [{ displayName: "x" }, ["displayName", "secret"], ["updateMask"]],
    ];
  for (const [change, paths, fields] of bad) {
    const { violations } = await refusal(calls.update(account, { name, ...change }, ...paths));
    assert.deepEqual(
      violations.map(({ field }) => field),
      fields,
    );
  }
  assert.deepEqual(await calls.get(account, name), expected);
});

test("an account has at most 20 webhooks, even if many are created concurrently", async () => {
  const account = await fixture.addAccount();
  const made = await Promise.allSettled(
    Array.from({ length: 25 }, async () => await fixture.make(account, { url })),
  );
  assert.equal(made.filter(({ status }) => status === "fulfilled").length, 20);
  const { code, reason } = await refusal(fixture.make(account, { url }));
  assert.deepEqual([code, reason], ["resource_exhausted", "TOO_MANY_WEBHOOKS"]);
  await calls.remove(account, (await calls.list(account))[0]?.name ?? "");
  await fixture.make(account, { url });
});

test("webhooks and deliveries of another account get the same errors as those that do not exist", async () => {
  const [owner, stranger] = [await fixture.addAccount(), await fixture.addAccount()];
  const { webhook } = await fixture.make(owner, { url });
  const delivery = await calls.sendTest(owner, webhook.name);
  const { webhook: own } = await fixture.make(stranger, { url });
  const id = newId();
  const rows: [call: (name: string) => Promise<unknown>, reason: string, names: string[]][] = [
    ...[calls.get, calls.remove, calls.rotate, calls.sendTest, calls.deliveries].map(
      (call): [(name: string) => Promise<unknown>, string, string[]] => [
        async (name) => await call(stranger, name),
        "WEBHOOK_NOT_FOUND",
        [webhook.name, `webhooks/${id}`, "webhooks/x", "webhooks/", ""],
      ],
    ),
    [
      async (name) => await calls.update(stranger, { name, displayName: "mine" }),
      "WEBHOOK_NOT_FOUND",
      [webhook.name, `webhooks/${id}`, "webhooks/x"],
    ],
    [
      async (name) => await calls.redeliver(stranger, name),
      "DELIVERY_NOT_FOUND",
      [
        delivery.name,
        delivery.name.replace(webhook.name, own.name),
        `${own.name}/deliveries/${id}`,
        `${own.name}/deliveries/x`,
        own.name,
      ],
    ],
  ];
  for (const [call, reason, names] of rows) {
    for (const name of names) {
      const error = await refusal(call(name));
      assert.deepEqual([error.code, error.reason], ["not_found", reason], name);
    }
  }
  assert.deepEqual(await calls.get(owner, webhook.name), webhook);
});

test("deliveries are listed newest first, and page tokens are valid only for the same list", async () => {
  const account = await fixture.addAccount();
  const { id, webhook } = await fixture.make(account, { url });
  const { webhook: other } = await fixture.make(account, { url });
  for (let count = 0; count < 5; count++) await fixture.notify(account, { count });
  const rows = (await fixture.deliveries(id)).map((row) => `${webhook.name}/deliveries/${row.id}`);
  const first = await calls.deliveries(account, webhook.name, 2);
  const second = await calls.deliveries(account, webhook.name, 2, first.nextPageToken);
  const third = await calls.deliveries(account, webhook.name, 2, second.nextPageToken);
  const names = [first, second, third].flatMap((page) => page.deliveries.map(({ name }) => name));
  assert.deepEqual(names, rows.toReversed());
  assert.equal(third.nextPageToken, "");
  const [delivery] = first.deliveries;
  assert.deepEqual(
    [delivery?.state, delivery?.eventType, delivery?.attempts, delivery?.lastHttpStatus],
    [State.PENDING, "transcriptjob.succeeded", 0, undefined],
  );
  assert.match(delivery?.job ?? "", /^transcriptjob\/[\da-f-]{36}$/);
  assert.ok(delivery?.nextAttemptTime);
  for (const token of ["x", `${first.nextPageToken}x`]) {
    const error = await refusal(calls.deliveries(account, webhook.name, 2, token));
    assert.equal(error.violations[0]?.field, "pageToken");
  }
  const { violations } = await refusal(
    calls.deliveries(account, other.name, -1, first.nextPageToken),
  );
  assert.deepEqual(
    violations.map(({ field }) => field),
    ["pageSize", "pageToken"],
  );
});

test("at most ten tests of a webhook wait, like other messages; a disabled webhook sends no tests and redelivers nothing", async () => {
  const account = await fixture.addAccount();
  const { id, webhook } = await fixture.make(account, {
    url,
    eventTypes: ["transcriptjob.failed"],
  });
  const { name } = webhook;
  const sent = await calls.sendTest(account, name);
  assert.deepEqual(
    [sent.state, sent.eventType, sent.job],
    [State.PENDING, "webhook.test", undefined],
  );
  const [{ body } = { body: "" }] = await fixture.deliveries(id);
  const message = JSON.parse(body);
  assert.deepEqual([message.type, message.data], ["webhook.test", { webhook: name }]);
  for (let count = 1; count < 10; count++) await calls.sendTest(account, name);
  assert.equal((await refusal(calls.sendTest(account, name))).reason, "TOO_MANY_TESTS");
  await calls.update(account, { name, disabled: true });
  const both = [
    async () => calls.sendTest(account, name),
    async () => calls.redeliver(account, sent.name),
  ];
  for (const call of both) {
    const { code, reason } = await refusal(call());
    assert.deepEqual([code, reason], ["failed_precondition", "WEBHOOK_DISABLED"]);
  }
});

test("a redelivery is due immediately, for another day, with the same id and body, and its attempts continue to count", async () => {
  const account = await fixture.addAccount();
  const { id, webhook } = await fixture.make(account, { url });
  await fixture.notify(account);
  const [before] = await fixture.deliveries(id);
  assert.ok(before);
  await fixture.database.pool.query(
    `update webhook_delivery set state = 'FAILED', attempts = 7, tries = 7, due_at = now() + interval '1 hour',
       give_up_at = now() - interval '1 day', last_problem = 'no' where id = $1`,
    [before.id],
  );
  const again = await calls.redeliver(account, `${webhook.name}/deliveries/${before.id}`);
  assert.deepEqual([again.state, again.attempts], [State.PENDING, 7]);
  const [row] = await fixture.deliveries(id);
  assert.ok(row);
  assert.deepEqual([row.id, row.body, row.tries, row.lease], [before.id, before.body, 0, 1]);
  assert.ok(row.due_at.getTime() <= Date.now());
  assert.ok(row.give_up_at.getTime() > Date.now() + 23 * 3_600_000);
});

test("each subscribed webhook gets an event once, when its transaction commits", async () => {
  const account = await fixture.addAccount();
  const all = await fixture.make(account, { url });
  const failed = await fixture.make(account, { url, eventTypes: ["transcriptjob.failed"] });
  const disabled = await fixture.make(account, { url });
  await calls.update(account, { name: disabled.webhook.name, disabled: true });
  const stranger = await fixture.make(await fixture.addAccount(), { url });
  const { db } = fixture.database;
  const at = new Date("2026-11-22T10:00:00.250Z");
  const jobId = newId();
  const notify = (
    type: "transcriptjob.succeeded" | "transcriptjob.failed",
    isRolledBack: boolean,
  ) =>
    db.transaction().execute(async (trx) => {
      await insertDeliveries(trx, account, jobId, { type, at, data: { a: 1 } });
      if (isRolledBack) throw new Error("rolled back");
    });
  await notify("transcriptjob.succeeded", false);
  await assert.rejects(notify("transcriptjob.failed", true), /rolled back/);
  await notify("transcriptjob.failed", false);
  const messagesOf = async ({ id }: { id: string }) =>
    (await fixture.deliveries(id)).map(({ event_type, job_id, body }) => [
      event_type,
      job_id,
      body,
    ]);
  const messageOf = (type: string) => [
    type,
    jobId,
    `{"type":"${type}","timestamp":"2026-11-22T10:00:00.250Z","data":{"a":1}}`,
  ];
  assert.deepEqual(await messagesOf(all), [
    messageOf("transcriptjob.succeeded"),
    messageOf("transcriptjob.failed"),
  ]);
  assert.deepEqual(await messagesOf(failed), [messageOf("transcriptjob.failed")]);
  assert.deepEqual([await messagesOf(disabled), await messagesOf(stranger)], [[], []]);
});
