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

test("a message whose next attempt was delayed by a clock that was set back is still sent", async () => {
  await using receiver = await openReceiver();
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url: receiver.url });
  await fixture.notify(account);
  await fixture.notify(account);
  const [tried, waiting] = await fixture.deliveries(id);
  assert.ok(tried && waiting);
  const set = async (deliveryId: string, attemptAt: string): Promise<void> => {
    await fixture.database.pool.query(
      `update webhook_delivery set attempts = 1, tries = 1, due_at = now() + interval '1 hour',
         last_attempt_at = now() + $2::interval where id = $1`,
      [deliveryId, attemptAt],
    );
  };
  await set(tried.id, "59 minutes");
  await set(waiting.id, "-1 hour");
  await using _worker = fixture.openWorker();
  await until(async () => (await fixture.deliveries(id))[0]?.state === "DELIVERED");
  assert.equal((await fixture.deliveries(id))[1]?.state, "PENDING");
});

test("messages are sent soon after the clock of the database was set back by hours", async () => {
  await using receiver = await openReceiver();
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url: receiver.url });
  await using _worker = fixture.openWorker({ repairMs: 200 });
  await fixture.notify(account);
  await until(async () => (await fixture.deliveries(id))[0]?.state === "DELIVERED");
  // One message has had no attempt, and one waits for the next attempt. All times are in the future
  // in both cases.
  for (const attempts of [0, 1]) {
    await fixture.database.pool.query(
      `insert into webhook_delivery (id, webhook_id, event_type, body, tries, attempts,
         created_at, last_attempt_at, due_at)
       select gen_random_uuid(), $1, 'transcriptjob.succeeded', '{}', $2, $2, now() + interval '3 hours',
         case when $2 > 0 then now() + interval '3 hours' end, now() + interval '3 hours 5 seconds'`,
      [id, attempts],
    );
  }
  await until(async () =>
    (await fixture.deliveries(id)).every(({ state }) => state === "DELIVERED"),
  );
  assert.equal(receiver.received.length, 3);
});

test("messages of a disabled webhook wait, are FAILED after a day, and are deleted after 30 days", async () => {
  await using receiver = await openReceiver();
  const account = await fixture.addAccount();
  const { id, webhook } = await fixture.make(account, { url: receiver.url });
  await fixture.notify(account);
  const set = async (disabled: boolean) =>
    await fixture.service.updateWebhook(
      create(UpdateWebhookRequestSchema, {
        webhook: { name: webhook.name, disabled },
        updateMask: { paths: ["disabled"] },
      }),
      fixture.call(account),
    );
  await set(true);
  {
    await using _worker = fixture.openWorker();
    await using watched = await openReceiver();
    const other = await fixture.addAccount();
    await fixture.make(other, { url: watched.url });
    await fixture.notify(other);
    await until(async () => watched.received.length === 1);
  }
  assert.equal(receiver.received.length, 0);
  await set(false);
  {
    await using _worker = fixture.openWorker();
    await until(async () => (await fixture.deliveries(id))[0]?.state === "DELIVERED");
  }
  await fixture.notify(account);
  await set(true);
  await fixture.shift("-25 hours");
  {
    await using _worker = fixture.openWorker();
    await until(async () => (await fixture.deliveries(id))[1]?.state === "FAILED");
  }
  await fixture.shift("-29 days");
  await using _worker = fixture.openWorker();
  await until(async () => (await fixture.deliveries(id)).length === 0);
});
