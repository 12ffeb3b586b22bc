// Certificates that are swapped, and a drain, under 100 open streams with TLS, and under streams of
// several front processes.
import assert from "node:assert/strict";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { openExistingDatabase } from "../../src/database/open-existing.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { openDoor } from "../fault/open-door.ts";
import { allProcesses, startService, treeOf } from "../fault/process.ts";
import { openTestAuthority } from "../fixtures/test-authority.ts";
import { until, within } from "../fixtures/until.ts";
import { openGrpcStream, openSocket, servedName, settings, tlsOf } from "./tls-streams.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-tls-swaps-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const authority = await openTestAuthority(join(folder, "ca"));
const first = await authority.issue("first");
/** Only ends what hangs. */
const timeoutMs = 300_000;

/**
 * Mounts a certificate as Kubernetes mounts a secret: its files are links into a folder that a link
 * names. `swap` issues another one, and lets the link name it.
 */
async function openMount(at: string, name: string) {
  const mount = join(folder, at);
  const swap = async (to: string) => {
    const { certificate, key } = await authority.issue(to);
    mkdirSync(join(mount, to), { recursive: true });
    writeFileSync(join(mount, to, "tls.crt"), readFileSync(certificate));
    writeFileSync(join(mount, to, "tls.key"), readFileSync(key));
    symlinkSync(to, join(mount, "..data_tmp"));
    renameSync(join(mount, "..data_tmp"), join(mount, "..data"));
  };
  await swap(name);
  for (const file of ["tls.crt", "tls.key"]) symlinkSync(`..data/${file}`, join(mount, file));
  const files = { certificate: join(mount, "tls.crt"), key: join(mount, "tls.key") };
  return { mount, files, swap };
}

test(
  "certificates are swapped under 100 open streams, and neither this nor a drain cuts them",
  { timeout: timeoutMs },
  async () => {
    const { mount, files, swap } = await openMount("mount", "one");
    const swapping = { ...settings, ...tlsOf(files), HLUST_DRAIN: "1h" };
    await using service = await startService(join(folder, "data"), swapping);
    const { address, key, child } = service;
    using cleaning = new DisposableStack();
    // If this test fails, the second signal ends the drain.
    cleaning.defer(() => child.kill("SIGTERM"));
    assert.equal(await servedName(address), "one");

    const door = createClient(Speech, openDoor("grpc", address, key));
    const streams = await Promise.all([
      ...Array.from({ length: 60 }, () => openSocket(service)),
      ...Array.from({ length: 40 }, () => openGrpcStream(door)),
    ]);
    const swaps: [name: string, change: () => Promise<void>][] = [
      ["two", () => swap("two")],
      ["three", () => swap("three")],
      [
        "first",
        async () => {
          // As certbot does: each link is replaced.
          for (const [name, path] of [
            ["tls.crt", first.certificate],
            ["tls.key", first.key],
          ] as const) {
            symlinkSync(path, join(mount, `${name}.new`));
            renameSync(join(mount, `${name}.new`), join(mount, name));
          }
        },
      ],
    ];
    for (const [name, change] of swaps) {
      await change();
      await until(async () => (await servedName(address)) === name, 60_000);
    }

    // A shutdown does not cut them either.
    const session = connectHttp2(address);
    session.on("error", () => {});
    await once(session, "remoteSettings");
    const goaway = once(session, "goaway");
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const [code] = await within("GOAWAY", goaway);
    assert.equal(code, 0);
    await until(async () => (await fetch(`${address}/v1alpha1/transcripts`)).status === 503);
    const finals = await Promise.all(streams.map((end) => end()));
    assert.equal(finals.length, 100);
    assert.ok(
      finals.every((count) => count > 0),
      JSON.stringify(finals),
    );
    const { errors } = service.output();
    assert.equal(errors.match(/"event":"tls.certificate_replaced"/g)?.length, swaps.length);
    assert.doesNotMatch(errors, /certificate_refused|broken/);
    assert.deepEqual(await within("the end of the process", exited), [0, null]);
  },
);

test(
  "each front process follows new certificates, no stream is cut, and all end with the main process",
  { timeout: timeoutMs },
  async () => {
    const { files, swap } = await openMount("mount-of-fronts", "alpha");
    const dataFolder = join(folder, "fronts");
    const several = { ...settings, ...tlsOf(files), HLUST_FRONT_PROCESSES: "2" };
    await using service = await startService(dataFolder, several);
    const { address, key, pid, child } = service;
    const door = createClient(Speech, openDoor("grpc", address, key));
    const streams = await Promise.all([
      ...Array.from({ length: 12 }, () => openSocket(service)),
      ...Array.from({ length: 4 }, () => openGrpcStream(door)),
    ]);
    const names = ["beta", "gamma"];
    const replaced = (of: string) => {
      const line = new RegExp(`"process":"${of}".*"event":"tls.certificate_replaced"`, "g");
      return service.output().errors.match(line)?.length ?? 0;
    };
    for (const [at, name] of names.entries()) {
      await swap(name);
      // The second one is read at once.
      if (at === 1) child.kill("SIGHUP");
      await until(
        async () => ["front1", "front2"].every((front) => replaced(front) === at + 1),
        60_000,
      );
      // These connections are shared out among the front processes.
      const served = await Promise.all(Array.from({ length: 8 }, () => servedName(address)));
      assert.deepEqual(new Set(served), new Set([name]));
    }
    const reloaded = (of: string) =>
      new RegExp(`"process":"${of}".*"event":"settings.reloaded"`).test(service.output().errors);
    assert.ok(reloaded("front1") && reloaded("front2"));
    const finals = await Promise.all(streams.map((end) => end()));
    assert.ok(
      finals.every((count) => count > 0),
      JSON.stringify(finals),
    );
    assert.doesNotMatch(service.output().errors, /certificate_refused|broken|front\.lost/);

    const isFront = ({ command }: { readonly command: string }) => /serve-front/.test(command);
    const fronts = new Set(
      treeOf(pid)
        .filter(isFront)
        .map((front) => front.pid),
    );
    assert.equal(fronts.size, 2);
    await service.crash();
    await until(async () =>
      allProcesses().every((each) => !fronts.has(each.pid) || !isFront(each)),
    );
    // The process that uses the database last stops it.
    await using _database = await openExistingDatabase({
      dataFolder,
      database: { url: undefined },
    });
  },
);
