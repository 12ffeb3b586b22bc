// The order in which a worker takes messages, how many at a time, and for how long.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  openReceiver,
  openWebhooks,
  type WebhooksFixture,
} from "../../test/fixtures/webhooks-fixture.ts";
import { until } from "../../test/fixtures/until.ts";
import { leaseDeliveries } from "./delivery-queue.ts";

let fixture: WebhooksFixture;
before(async () => {
  fixture = await openWebhooks();
});
after(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  await fixture.database.pool.query("delete from webhook");
});

const url = "http://127.0.0.1:9/";

/** Adds a webhook with messages, which are due later than those of webhooks before it. */
async function addWaiting(messages: number): Promise<string> {
  const account = await fixture.addAccount();
  const { id } = await fixture.make(account, { url });
  for (let count = 0; count < messages; count += 1) await fixture.notify(account, { count });
  return id;
}

/** Leases messages. Returns the webhook of each, as an index in `ids`, sorted. */
async function leased(
  ids: readonly string[],
  { room, sending = [] }: { readonly room: number; readonly sending?: readonly number[] },
): Promise<number[]> {
  const counts = new Map(sending.map((count, at) => [ids[at] ?? "", count]));
  const options = { leaseMs: 60_000, room, ofWebhookMax: 8, sending: counts };
  const found = await leaseDeliveries(fixture.database.db, options);
  return found.map(({ webhookId }) => ids.indexOf(webhookId)).toSorted((one, other) => one - other);
}

test("webhooks get the room in turns, however many messages of another one have waited longer", async () => {
  const ids = [await addWaiting(9), await addWaiting(3), await addWaiting(1)];
  assert.deepEqual(await leased(ids, { room: 6 }), [0, 0, 0, 1, 1, 2]);
  // The first one has three left besides its share, the second one has one.
  assert.deepEqual(await leased(ids, { room: 3 }), [0, 0, 1]);
});

test("a webhook with messages in progress comes after one that has fewer, and gets at most eight", async () => {
  const ids = [await addWaiting(12), await addWaiting(3)];
  assert.deepEqual(await leased(ids, { room: 2, sending: [3, 1] }), [1, 1]);
  assert.deepEqual(await leased(ids, { room: 2, sending: [3, 3] }), [0, 1]);
  assert.deepEqual(await leased(ids, { room: 64, sending: [6] }), [0, 0]);
  assert.deepEqual(await leased(ids, { room: 64, sending: [8] }), []);
  assert.deepEqual(await leased(ids, { room: 64, sending: [0] }), Array(8).fill(0));
});

test("a worker sends 64 messages at a time, and one attempt may take 15 s", async () => {
  await using receiver = await openReceiver(() => {});
  for (let count = 0; count < 9; count += 1) {
    const account = await fixture.addAccount();
    await fixture.make(account, { url: receiver.url });
    for (let at = 0; at < 8; at += 1) await fixture.notify(account, { at });
  }
  await using _worker = fixture.openWorker();
  const state = async () => {
    const { rows } = await fixture.database.pool.query(
      `select count(*)::int as messages,
         count(*) filter (where tries > 0)::int as sent,
         array_agg(distinct extract(epoch from due_at - last_attempt_at)::int)
           filter (where tries > 0) as lease_seconds
       from webhook_delivery`,
    );
    return rows[0];
  };
  let found: { readonly sent: number } | undefined;
  await until(async () => {
    found = await state();
    return found?.sent === 64 && receiver.received.length === 64;
  });
  // A lease is twice as long as an attempt may take.
  assert.deepEqual(found, { messages: 72, sent: 64, lease_seconds: [30] });
});
