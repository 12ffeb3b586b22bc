import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { pino } from "pino";
import { countQueues } from "../../test/fixtures/counted-queues.ts";
import {
  openReceiver,
  openWebhooks,
  signedBy,
  type WebhooksFixture,
} from "../../test/fixtures/webhooks-fixture.ts";
import { until } from "../../test/fixtures/until.ts";
import {
  ListWebhooksRequestSchema,
  RotateWebhookSecretRequestSchema,
} from "../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { parseMediaAllowList } from "../media/media-url.ts";

let fixture: WebhooksFixture;
before(async () => {
  fixture = await openWebhooks();
});
after(() => fixture[Symbol.asyncDispose]());

/** Returns the only delivery of a webhook once the delivery is as expected. */
async function deliveryOnce(
  webhookId: string,
  isSo: (delivery: Awaited<ReturnType<WebhooksFixture["deliveries"]>>[number]) => boolean,
) {
  await until(async () => {
    const [delivery] = await fixture.deliveries(webhookId);
    return delivery !== undefined && isSo(delivery);
  });
  const [delivery] = await fixture.deliveries(webhookId);
  assert.ok(delivery);
  return delivery;
}

test("a message arrives once, signed, with its id and the stored JSON", async () => {
  await using receiver = await openReceiver();
  const account = await fixture.addAccount();
  const { id, secret } = await fixture.make(account, { url: `${receiver.url}/event?by=hlust` });
  const lines: string[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => lines.push(line) });
  await using _worker = fixture.openWorker({ log });
  const before = Math.floor(Date.now() / 1000);
  await fixture.notify(account, { subject: "Þórður í Ási" });
  const delivery = await deliveryOnce(id, ({ state }) => state === "DELIVERED");
  const [message] = receiver.received;
  assert.ok(message);
  assert.equal(message.id, delivery.id);
  assert.equal(message.body, delivery.body);
  assert.equal(message.headers["content-type"], "application/json");
  assert.deepEqual(signedBy(secret, message), [true]);
  const timestamp = Number(message.headers["webhook-timestamp"]);
  assert.ok(timestamp >= before && timestamp <= Date.now() / 1000 + 1, `${timestamp}`);
  const { type, data } = JSON.parse(message.body);
  assert.deepEqual([type, data], ["transcriptjob.succeeded", { subject: "Þórður í Ási" }]);
  assert.deepEqual(
    [delivery.attempts, delivery.last_http_status, delivery.last_problem],
    [1, 204, null],
  );
  assert.equal(receiver.received.length, 1);
  await until(async () => lines.length > 0);
  const [{ level: _, msg: event, attempts, ms, ...logged }] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([event, attempts, typeof ms], ["webhook.delivered", 1, "number"]);
  assert.deepEqual(logged, { webhookId: id, deliveryId: delivery.id, status: 204 });
});

test("a message is sent again with the same bytes and id until it is accepted", async () => {
  await using receiver = await openReceiver((response, at) => {
    response.writeHead([500, 429, 200][at] ?? 200, at === 1 ? { "retry-after": "3600" } : {});
    response.end("thanks".repeat(100_000));
  });
  const account = await fixture.addAccount();
  const { id, secret } = await fixture.make(account, { url: receiver.url });
  await using _worker = fixture.openWorker({ chance: () => 0.5 });
  await fixture.notify(account);
  const first = await deliveryOnce(id, ({ last_problem }) => last_problem !== null);
  assert.deepEqual(
    [first.state, first.last_http_status, first.last_problem],
    ["PENDING", 500, "the receiver answered 500 Internal Server Error"],
  );
  const waitMs = first.due_at.getTime() - (first.last_attempt_at?.getTime() ?? 0);
  assert.ok(waitMs >= 5_000 && waitMs < 65_000, `${waitMs}`);
  await fixture.shift("-2 minutes");
  const second = await deliveryOnce(id, ({ attempts }) => attempts === 2);
  assert.equal(second.state, "PENDING");
  const third = await deliveryOnce(id, ({ last_http_status }) => last_http_status === 429);
  const askedMs = third.due_at.getTime() - (third.last_attempt_at?.getTime() ?? 0);
  assert.ok(askedMs >= 3_600_000, `${askedMs}`);
  await fixture.shift("-2 hours");
  await deliveryOnce(id, ({ state }) => state === "DELIVERED");
  assert.equal(receiver.received.length, 3);
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
  assert.equal(new Set(receiver.received.map((message) => message.id)).size, 1);
  for (const message of receiver.received) assert.deepEqual(signedBy(secret, message), [true]);
});

test("a message is sent again after a timeout, a redirect or a broken connection", async () => {
  await using elsewhere = await openReceiver();
  const rows: [answer: Parameters<typeof openReceiver>[0], status: number | null, why: RegExp][] = [
    [() => {}, null, /^the receiver did not answer within 0\.5 s$/],
    [
      (response) => response.writeHead(307, { location: elsewhere.url }).end(),
      307,
      /^the receiver answered 307 Temporary Redirect: redirects are not followed$/,
    ],
    [(response) => response.socket?.destroy(), null, /^the receiver broke the connection off$/],
    [
      (response) => response.socket?.end("SSH-2.0-OpenSSH_9.2\r\n"),
      null,
      /^the receiver does not answer in HTTP$/,
    ],
    [(response) => response.writeHead(404).end(), 404, /^the receiver answered 404 Not Found$/],
    [(response) => response.writeHead(299).end(), 299, /^$/],
  ];
  await using _worker = fixture.openWorker({ timeoutMs: 500 });
  for (const [answer, status, why] of rows) {
    await using receiver = await openReceiver(answer);
    const account = await fixture.addAccount();
    const { id } = await fixture.make(account, { url: receiver.url });
    await fixture.notify(account);
    const isTaken = status === 299;
    const delivery = await deliveryOnce(id, ({ state, last_problem }) =>
      isTaken ? state === "DELIVERED" : last_problem !== null,
    );
    assert.deepEqual([delivery.attempts, delivery.last_http_status], [1, status]);
    assert.match(delivery.last_problem ?? "", why);
    assert.equal(delivery.state, isTaken ? "DELIVERED" : "PENDING");
  }
  assert.equal(elsewhere.received.length, 0);
});

test("a response with status 200 counts as success even if its body is cut off", async () => {
  await using receiver = await openReceiver((response, at) => {
    response.writeHead(200).write("{", () => {
      if (at === 0) response.destroy();
    });
  });
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url: receiver.url });
  await using _worker = fixture.openWorker({ timeoutMs: 500 });
  await fixture.notify(account);
  await fixture.notify(account);
  await until(async () =>
    (await fixture.deliveries(id)).every(({ state }) => state === "DELIVERED"),
  );
});

test("non-public addresses are never connected to, and an open port looks like a closed one", async () => {
  await using open = await openReceiver();
  const closed = await openReceiver();
  const closedUrl = closed.url;
  await closed[Symbol.asyncDispose]();
  const port = Number(new URL(open.url).port);
  await new Promise((resolve, reject) =>
    connect(port, "127.0.0.1", () => resolve(0)).on("error", reject),
  );
  const account = await fixture.addAccount();
  const made = await Promise.all([
    fixture.make(account, { url: open.url }),
    fixture.make(account, { url: closedUrl }),
    // These URLs contain a name; one has an open port and one a closed port.
    fixture.make(account, { url: "http://inside.example/x" }),
    fixture.make(account, { url: `http://inside.example:${port}/x` }),
  ]);
  await fixture.notify(account);
  // Unlike when the webhook was created, no addresses are allowed any more, and the name resolves
  // to an internal address.
  await using _worker = fixture.openWorker({
    allow: parseMediaAllowList([]),
    resolve: async () => ["127.0.0.1"],
  });
  const problems: (string | null)[] = [];
  for (const { id } of made) {
    const delivery = await deliveryOnce(id, ({ last_problem }) => last_problem !== null);
    assert.equal(delivery.last_http_status, null);
    problems.push(delivery.last_problem);
  }
  const refused = "the URL cannot be reached: the address of the host is not public";
  assert.deepEqual(problems.slice(0, 2), [refused, refused]);
  assert.equal(problems[2], "the address of the host is not public");
  assert.match(problems[3] ?? "", /only 80 and 443|not public/);
  assert.equal(open.received.length, 0);
});

test("the service connects to the address that it checked, even if the name resolves differently later", async () => {
  await using receiver = await openReceiver();
  const account = await fixture.addAccount();
  const { port } = new URL(receiver.url);
  const { id } = await fixture.make(account, { url: `http://turns.example:${port}/` });
  const answers = ["127.0.0.1", "127.0.0.2"];
  await using _worker = fixture.openWorker({
    resolve: async () => [answers.shift() ?? "127.0.0.2"],
  });
  await fixture.notify(account);
  await deliveryOnce(id, ({ state }) => state === "DELIVERED");
  await fixture.notify(account);
  await until(async () => (await fixture.deliveries(id))[1]?.last_problem !== null);
  const [, second] = await fixture.deliveries(id);
  assert.match(second?.last_problem ?? "", /not public/);
  assert.equal(receiver.received.length, 1);
});

test("410 Gone ends the message and disables the webhook with a reason", async () => {
  await using receiver = await openReceiver((response) => response.writeHead(410).end());
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url: receiver.url });
  const { queues, valueOf } = countQueues();
  await using _worker = fixture.openWorker({ recorder: queues });
  await fixture.notify(account);
  const delivery = await deliveryOnce(id, ({ state }) => state === "FAILED");
  assert.equal(delivery.last_problem, "the receiver answered 410 Gone");
  const result = "given_up";
  await until(async () => (await valueOf("hlust_webhook_deliveries_total", { result })) === 1);
  const { webhooks } = await fixture.service.listWebhooks(
    create(ListWebhooksRequestSchema),
    fixture.call(account),
  );
  assert.equal(webhooks?.[0]?.disabled, true);
  assert.equal(webhooks?.[0]?.disabledReason, "the receiver answered 410 Gone");
  await fixture.notify(account);
  assert.equal((await fixture.deliveries(id)).length, 1);
});

test("after a rotation both secrets sign for a day, then only the new one", async () => {
  await using receiver = await openReceiver();
  const account = await fixture.addAccount();
  const { id, webhook, secret: before } = await fixture.make(account, { url: receiver.url });
  const request = create(RotateWebhookSecretRequestSchema, { name: webhook.name });
  const { secret: now = "" } = await fixture.service.rotateWebhookSecret(
    request,
    fixture.call(account),
  );
  assert.notEqual(now, before);
  await using _worker = fixture.openWorker();
  await fixture.notify(account);
  await until(async () => receiver.received.length === 1);
  await fixture.database.pool.query(
    "update webhook set previous_secret_until = previous_secret_until - interval '24 hours' where id = $1",
    [id],
  );
  await fixture.notify(account);
  await until(async () => receiver.received.length === 2);
  const [first, second] = receiver.received;
  assert.ok(first && second);
  assert.deepEqual(signedBy(now, first), [true, false]);
  assert.deepEqual(signedBy(before, first), [false, true]);
  assert.deepEqual(signedBy(now, second), [true]);
});

test("a message is FAILED after its day and one more attempt; after three days the webhook is disabled", async () => {
  await using receiver = await openReceiver((response) => response.writeHead(503).end());
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url: receiver.url });
  await using _worker = fixture.openWorker();
  await fixture.notify(account);
  await deliveryOnce(id, ({ last_problem }) => last_problem !== null);
  await fixture.shift("-1 day");
  const delivery = await deliveryOnce(id, ({ state }) => state === "FAILED");
  assert.equal(delivery.attempts, 2);
  const stateOf = async () =>
    await fixture.database.db
      .selectFrom("webhook")
      .where("id", "=", id)
      .select(["disabled_at", "disabled_reason", "failing_since"])
      .executeTakeFirstOrThrow();
  const failing = await stateOf();
  assert.ok(failing.failing_since);
  assert.equal(failing.disabled_at, null);
  await fixture.database.pool.query(
    "update webhook set failing_since = failing_since - interval '3 days' where id = $1",
    [id],
  );
  await fixture.notify(account);
  await until(async () => (await fixture.deliveries(id))[1]?.last_problem !== null);
  assert.equal((await stateOf()).disabled_at, null);
  await fixture.shift("-1 day");
  await until(async () => (await stateOf()).disabled_at !== null);
  assert.equal(
    (await stateOf()).disabled_reason,
    "nothing was accepted for 3 days; the last time the receiver answered 503 Service Unavailable",
  );
});

test("a hanging receiver with many messages does not delay another; each webhook gets eight at a time", async () => {
  let [open, most] = [0, 0];
  await using slow = await openReceiver((response) => {
    most = Math.max(most, ++open);
    response.on("close", () => open--);
  });
  await using quick = await openReceiver();
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url: slow.url });
  for (let count = 0; count < 30; count++) await fixture.notify(account, { count });
  const other = await fixture.addAccount();
  await fixture.make(other, { url: quick.url });
  await using _worker = fixture.openWorker({ timeoutMs: 120_000 });
  await until(async () => slow.received.length === 8);
  await fixture.notify(other);
  // None of the hanging attempts has ended by the time the other message arrives.
  await until(async () => quick.received.length === 1, 60_000);
  assert.deepEqual([slow.received.length, most], [8, 8]);
  const states = (await fixture.deliveries(id)).map(({ attempts }) => attempts);
  assert.equal(states.filter((attempts) => attempts === 1).length, 8);
});

test("a worker that stops releases its messages, and the next worker sends them immediately", async () => {
  await using receiver = await openReceiver((response, at) => {
    if (at > 0) response.writeHead(204).end();
  });
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url: receiver.url });
  const { queues, valueOf } = countQueues();
  const worker = fixture.openWorker({ recorder: queues });
  await fixture.notify(account);
  await until(async () => receiver.received.length === 1);
  await worker[Symbol.asyncDispose]();
  assert.ok(((await valueOf("hlust_webhook_deliveries_total", { result: "released" })) ?? 0) >= 1);
  assert.equal((await fixture.deliveries(id))[0]?.attempts, 0);
  await using _next = fixture.openWorker();
  const delivery = await deliveryOnce(id, ({ state }) => state === "DELIVERED");
  assert.equal(delivery.attempts, 1);
});
