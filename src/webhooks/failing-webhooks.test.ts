// How messages are sent to receivers that fail, recover, or get another URL.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  openReceiver,
  openWebhooks,
  type WebhooksFixture,
} from "../../test/fixtures/webhooks-fixture.ts";
import { until } from "../../test/fixtures/until.ts";
import { UpdateWebhookRequestSchema } from "../gen/hlust/webhooks/v1/webhooks_pb.ts";

let fixture: WebhooksFixture;
before(async () => {
  fixture = await openWebhooks();
});
after(() => fixture[Symbol.asyncDispose]());

const failingSince = async (id: string) =>
  (
    await fixture.database.db
      .selectFrom("webhook")
      .where("id", "=", id)
      .select("failing_since")
      .executeTakeFirstOrThrow()
  ).failing_since;

test("a webhook that fails gets one message at a time, the longest due first, until it accepts one", async () => {
  let [open, most, isFailing] = [0, 0, true];
  const hanging: (() => void)[] = [];
  await using receiver = await openReceiver((response) => {
    most = Math.max(most, ++open);
    response.on("close", () => open--);
    const answer = () => response.writeHead(isFailing ? 503 : 204).end();
    if (isFailing) answer();
    else hanging.push(answer);
  });
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url: receiver.url });
  await using _worker = fixture.openWorker({ timeoutMs: 120_000 });
  await fixture.notify(account, { at: 0 });
  await until(async () => (await failingSince(id)) !== null);
  assert.equal(receiver.received.length, 1);

  // The receiver answers again, but slowly: only one message is sent to it until then.
  isFailing = false;
  most = 0;
  for (let at = 1; at < 6; at += 1) await fixture.notify(account, { at });
  await fixture.shift("-1 hour");
  await until(() => Promise.resolve(receiver.received.length === 2));
  const other = await fixture.addAccount();
  await using quick = await openReceiver();
  await fixture.make(other, { url: quick.url });
  await fixture.notify(other);
  // By then the worker has leased again.
  await until(() => Promise.resolve(quick.received.length === 1));
  assert.deepEqual([receiver.received.length, most], [2, 1]);
  hanging.shift()?.();
  await until(async () => (await failingSince(id)) === null);
  // From then on, the others are sent at the same time.
  await until(() => Promise.resolve(most > 1));
  await until(async () => {
    for (const answer of hanging.splice(0)) answer();
    return (await fixture.deliveries(id)).every(({ state }) => state === "DELIVERED");
  });
  const sent = receiver.received.map(({ body }) => {
    const { data }: { data: { at: number } } = JSON.parse(body);
    return data.at;
  });
  // The first message waits for its second attempt longer than the others for their first one.
  assert.deepEqual(sent.slice(0, 2), [0, 1]);
});

test("failures of a URL that was replaced meanwhile do not count for the new one", async () => {
  let answer = () => {};
  await using old = await openReceiver((response) => {
    answer = () => response.writeHead(410).end();
  });
  await using next = await openReceiver();
  const account = await fixture.addAccount();
  const { id, webhook } = await fixture.make(account, { url: old.url });
  await using _worker = fixture.openWorker({ timeoutMs: 120_000 });
  await fixture.notify(account);
  await until(() => Promise.resolve(old.received.length === 1));
  await fixture.service.updateWebhook(
    create(UpdateWebhookRequestSchema, {
      webhook: { name: webhook.name, url: next.url },
      updateMask: { paths: ["url"] },
    }),
    fixture.call(account),
  );
  answer();
  await until(async () => (await fixture.deliveries(id))[0]?.state === "FAILED");
  assert.equal(await failingSince(id), null);
  await fixture.notify(account);
  await until(() => Promise.resolve(next.received.length === 1));
});
