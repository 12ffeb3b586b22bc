// Certificates that are swapped, and a drain, under 100 open streams with TLS.
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
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { openDoor } from "../fault/open-door.ts";
import { startService } from "../fault/process.ts";
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

test(
  "certificates are swapped under 100 open streams, and neither this nor a drain cuts them",
  { timeout: timeoutMs },
  async () => {
    // As Kubernetes mounts a secret: the files are links into a folder that a link names.
    const mount = join(folder, "mount");
    const version = async (name: string) => {
      const { certificate, key } = await authority.issue(name);
      mkdirSync(join(mount, name), { recursive: true });
      writeFileSync(join(mount, name, "tls.crt"), readFileSync(certificate));
      writeFileSync(join(mount, name, "tls.key"), readFileSync(key));
      symlinkSync(name, join(mount, "..data_tmp"));
      renameSync(join(mount, "..data_tmp"), join(mount, "..data"));
    };
    await version("one");
    for (const name of ["tls.crt", "tls.key"]) symlinkSync(`..data/${name}`, join(mount, name));
    const files = { certificate: join(mount, "tls.crt"), key: join(mount, "tls.key") };
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
    const swaps: [name: string, swap: () => Promise<void>][] = [
      ["two", () => version("two")],
      ["three", () => version("three")],
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
    for (const [name, swap] of swaps) {
      await swap();
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
