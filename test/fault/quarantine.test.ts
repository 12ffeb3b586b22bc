// A copy of an archive answers calls and does nothing else until its operator releases it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { toneWav } from "../fixtures/jobs-fixture.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { callRest } from "../spec/service.ts";
import { draftOf } from "../spec/transcripts.ts";
import { until } from "../fixtures/until.ts";
import { numbers } from "../fixtures/worker-fixture.ts";
import { startService, type ServiceProcess } from "./process.ts";

const settings = { HLUST_ENGINE: "scripted", HLUST_ALLOW_WEBHOOKS_TO: "127.0.0.1" };
const calls: string[] = [];
const receiver = createServer((request, response) => {
  request.resume().on("end", () => {
    calls.push(request.url ?? "");
    response.end();
  });
});
let folder: string;
let copy: string;
/** The name of a transcript with media, and the name of a waiting job. */
let transcript: string;
let job: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-copy-"));
  const original = join(folder, "original");
  copy = join(folder, "copy");
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const address = receiver.address();
  assert.ok(address !== null && typeof address === "object");
  {
    await using service = await startService(original, { ...settings, HLUST_ROLE: "api" });
    const url = `http://127.0.0.1:${address.port}/hook`;
    await call(service, "POST", "/v1/webhooks", { url, displayName: "ended" });
    transcript = (await call(service, "POST", "/v1alpha1/transcripts", draftOf("Kept"))).name;
    await upload(service, { resourceName: transcript });
    job = (
      await call(service, "POST", "/v1alpha1/transcriptjob:submit", {
        metadata: { languageCode: "en-US", fileType: "AUDIO" },
        useUri: false,
        uri: await upload(service, {}),
      })
    ).name;
  }
  execFileSync("cp", ["-a", original, copy]);
});
after(() => {
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

async function call({ address, key }: ServiceProcess, method: string, path: string, body?: object) {
  const { status, json } = await callRest(address, key, { method, path, body });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

async function upload(service: ServiceProcess, request: object): Promise<string> {
  const begun = await call(service, "POST", "/v1alpha1/initupload", request);
  const body = toneWav(numbers(4));
  const put = await fetch(begun.storageSignedUrl, { method: "PUT", body });
  assert.equal(put.status, 200, await put.text());
  return begun.resourceName;
}

const mediaFiles = () =>
  readdirSync(join(copy, "media/finished"), { recursive: true }).filter((name) =>
    String(name).includes("/"),
  );
const hlust = async (...args: string[]) => await runHlust(args, { HLUST_DATA: copy });

test("a copy of the data folder starts in quarantine: it answers calls and does nothing else", async () => {
  const files = mediaFiles();
  await using service = await startService(copy, settings);
  const { out, errors } = service.output();
  assert.match(
    out,
    /^hlust: in quarantine: the folder of HLUST_DATA, .*copy, is a copy\. .*release/m,
  );
  assert.match(errors, /"event":"archive\.quarantine"/);
  const ready = await call(service, "GET", "/readyz");
  assert.match(ready.parts.media.quarantine, /is a copy/);
  await call(service, "PATCH", `/v1alpha1/${transcript}?updateMask=metadata.subject`, {
    metadata: { subject: "Changed" },
  });
  await upload(service, {});
  await call(service, "DELETE", `/v1alpha1/${transcript}`);
  assert.equal(mediaFiles().length, files.length + 1);
  for (const file of files) assert.ok(mediaFiles().includes(file));
  const { state, progressPercent = 0 } = await call(service, "GET", `/v1alpha1/${job}`);
  assert.deepEqual([state, progressPercent], ["PROCESSING", 0]);
  assert.match(service.output().errors, /"why":"transcript_deleted","count":1,.*media\.bytes_kept/);
  assert.doesNotMatch(service.output().errors, /job\.started|set_aside|bytes_deleted/);
  assert.deepEqual(calls, []);
});

test("`hlust archive` shows why an archive is in quarantine, in which fsck repairs nothing and accounts deletes nothing", async () => {
  const shown = await hlust("archive", "show");
  assert.equal(shown.code, 1, shown.errors);
  assert.match(shown.out, /^Archive [0-9a-f-]{36}, since .*\n.*\n.*\nA service is in quarantine: /);
  const fsck = await hlust("fsck", "--repair");
  assert.deepEqual([fsck.code, fsck.out], [2, ""]);
  assert.match(fsck.errors, /the archive is in quarantine: .*hlust archive release/);
  const listed = JSON.parse((await hlust("accounts", "list", "--json")).out);
  const [, id = ""] = listed.accounts[0].name.split("/");
  const deleted = await hlust("accounts", "delete", id, "--yes");
  assert.equal(deleted.code, 1);
  assert.match(deleted.errors, /the archive is in quarantine/);
});

test("a released archive runs its jobs and sends its webhooks", async () => {
  const released = await hlust("archive", "release");
  assert.deepEqual([released.code, released.errors], [0, ""]);
  assert.equal((await hlust("archive", "show")).code, 0);
  await using service = await startService(copy, settings);
  assert.doesNotMatch(service.output().out, /quarantine/);
  await until(async () => (await call(service, "GET", `/v1alpha1/${job}`)).state === "SUCCESS");
  await until(async () => calls.length > 0);
  assert.deepEqual(calls, ["/hook"]);
});

test("`hlust serve --quarantine` reports the quarantine, and `hlust archive quarantine` marks the archive itself", async () => {
  const environment = {
    ...settings,
    HLUST_DATA: copy,
    HLUST_PORT: "0",
    HLUST_ENGINE_PROCESSES: "1",
    HLUST_FRONT_PROCESSES: "1",
  };
  const ended = await runHlust(["serve", "--quarantine"], environment, (child) => {
    child.stdout?.on("data", (text: Buffer) => {
      if (text.toString().includes("ready at")) child.kill("SIGTERM");
    });
  });
  assert.equal(ended.code, 0, ended.errors);
  assert.match(ended.out, /in quarantine: it was requested \(--quarantine\)/);
  assert.equal((await hlust("archive", "show")).code, 0, "that start has no lasting effect");
  assert.equal((await hlust("archive", "quarantine")).code, 0);
  const shown = JSON.parse((await hlust("archive", "show", "--json")).out);
  assert.match(shown.quarantine.join(), /it was put in quarantine/);
});
