// Webhooks (extension) with a whole service: when a job ends, the receivers of its account get a
// signed message.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { speak } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { openReceiver, type Received } from "../fixtures/webhooks-fixture.ts";
import { pollJob, submit } from "./jobs.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { openTestService, type TestService } from "./service.ts";

let service: TestService;
let host: MediaHost;
before(async () => {
  host = await openMediaHost({ "/talk.wav": speak("good morning") });
  service = await openTestService({ HLUST_ENGINE: "scripted" });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

type IsSigned = (secret: string, headers: Received["headers"], body: string) => boolean;

/** Returns the function that docs/api.md shows for receivers. */
async function documentedCheck(): Promise<IsSigned> {
  const guide = readFileSync(resolve(import.meta.dirname, "../../docs/api.md"), "utf8");
  const [, section = ""] = guide.split("\n## Webhooks\n");
  const [, code = ""] = /^```js\n(.*?)^```$/ms.exec(section) ?? [];
  const file = join(service.dataFolder, "is-signed.mjs");
  writeFileSync(file, code);
  const { isSigned }: { isSigned: IsSigned } = await import(pathToFileURL(file).href);
  return isSigned;
}

test("the end of a job is sent to the receiver, signed as documented and with the same data as GET", async () => {
  await using receiver = await openReceiver();
  const made = await service.call("POST", "/v1/webhooks", { url: receiver.url });
  assert.equal(made.status, 200);
  const { webhook, secret } = made.json;
  const { json: job } = await submit(service, `${host.address}/talk.wav`, { subject: "Þing" });
  const { last } = await pollJob(service, job.name);
  assert.equal(last.state, "SUCCESS");
  const { json: failing } = await submit(service, `${host.address}/missing.wav`);
  const { last: failed } = await pollJob(service, failing.name);
  await until(async () => receiver.received.length === 2, 60_000);

  const isSigned = await documentedCheck();
  for (const [type, ended] of [
    ["transcriptjob.succeeded", last],
    ["transcriptjob.failed", failed],
  ]) {
    const message = receiver.received.find(({ body }) => JSON.parse(body).type === type);
    assert.ok(message);
    const { headers, body } = message;
    assert.ok(isSigned(secret, headers, body));
    const { data, timestamp } = JSON.parse(body);
    const shown = await fetch(`${service.address}/v1alpha1/${ended.name}`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    assert.equal(JSON.stringify(data), await shown.text());
    assert.equal(Date.parse(timestamp), Date.parse(ended.lastUpdatedTime));
    const forged: [secret: string, headers: Received["headers"], body: string][] = [
      [`whsec_${Buffer.alloc(32).toString("base64")}`, headers, body],
      [secret, { ...headers, "webhook-id": "other" }, body],
      [secret, { ...headers, "webhook-timestamp": "1614265330" }, body],
      [secret, { ...headers, "webhook-timestamp": undefined }, body],
      [secret, { ...headers, "webhook-signature": "v1," }, body],
      [secret, { ...headers, "webhook-signature": undefined }, body],
      [secret, headers, body.replace("Þing", "Þíng").replace("ERROR", "SUCCESS")],
    ];
    for (const attempt of forged) assert.equal(isSigned(...attempt), false);
  }
  await until(async () => {
    const { json } = await service.call("GET", `/v1/${webhook.name}/deliveries`);
    return json.deliveries.every((one: { state: string }) => one.state === "DELIVERED");
  });
  const { json: list } = await service.call("GET", `/v1/${webhook.name}/deliveries`);
  const [{ name, job: of, eventType, attempts, lastHttpStatus, lastProblem, nextAttemptTime }] =
    list.deliveries;
  const delivered = receiver.received.find(({ body }) => body.includes(failing.name));
  assert.equal(name, `${webhook.name}/deliveries/${delivered?.id}`);
  assert.deepEqual(
    [of, eventType, attempts, lastHttpStatus, lastProblem, nextAttemptTime],
    [failing.name, "transcriptjob.failed", 1, 204, undefined, undefined],
  );
  assert.equal((await service.call("DELETE", `/v1/${webhook.name}`)).status, 200);
});

test("a test message is sent, its delivery is listed, and it is sent once more on request", async () => {
  await using receiver = await openReceiver((response, at) => {
    response.writeHead(at === 0 ? 500 : 200).end();
  });
  const { json: made } = await service.call("POST", "/v1/webhooks", {
    url: receiver.url,
    displayName: "Fréttastofa",
    eventTypes: ["transcriptjob.failed"],
  });
  const { name } = made.webhook;
  assert.deepEqual((await service.call("GET", `/v1/${name}`)).json, made.webhook);
  const { json: sent } = await service.call("POST", `/v1/${name}:test`, {});
  assert.deepEqual([sent.state, sent.attempts, "job" in sent], ["PENDING", 0, false]);
  const delivery = async () =>
    (await service.call("GET", `/v1/${name}/deliveries?pageSize=1`)).json.deliveries[0];
  await until(async () => (await delivery()).lastHttpStatus === 500);
  const refused = await delivery();
  assert.equal(refused.lastProblem, "the receiver answered 500 Internal Server Error");
  assert.ok(Date.parse(refused.nextAttemptTime) > Date.parse(refused.lastAttemptTime));
  await service.call("POST", `/v1/${sent.name}:redeliver`, {});
  await until(async () => (await delivery()).state === "DELIVERED", 60_000);
  const [first, second] = receiver.received;
  assert.ok(first && second);
  assert.deepEqual([second.id, second.body], [first.id, first.body]);
  const patched = await service.call("PATCH", `/v1/${name}`, { disabled: true, eventTypes: [] });
  assert.deepEqual(patched.json, { ...made.webhook, disabled: true, eventTypes: [] });
  const refusal = await service.call("POST", `/v1/${sent.name}:redeliver`, {});
  assert.deepEqual([refusal.status, refusal.json.details[0].reason], [400, "WEBHOOK_DISABLED"]);
  await service.call("DELETE", `/v1/${name}`);
  assert.equal((await service.call("GET", `/v1/${name}/deliveries`)).status, 404);
});

test("a private address is refused when a webhook is created, with the same message as for media", async () => {
  for (const url of ["http://127.0.0.2/", "http://10.1.2.3:6379/", "http://[::1]/", "http://0/"]) {
    const { status, json } = await service.call("POST", "/v1/webhooks", { url });
    assert.equal(status, 400, url);
    assert.equal(json.message, "url: the address of the host is not public");
  }
});
