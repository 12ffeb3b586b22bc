// The notifications that systemd gets over $NOTIFY_SOCKET from a real service.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createLog } from "../../src/std/log.ts";
import { sendDatagram } from "../../src/systemd/notify-socket.ts";
import { openSupervisor } from "../../src/systemd/supervisor.ts";
import { postgresOf, startService, treeOf } from "../fault/process.ts";
import { openNotifyReceiver } from "./notify-receiver.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const data = mkdtempSync(join(tmpdir(), "hlust-systemd-"));
after(() => {
  rmSync(data, { recursive: true, force: true });
});

for (const [kind, address] of [
  ["a path", join(data, "notify")],
  ["an abstract name", `@${data}`],
] as const) {
  test(
    `with $NOTIFY_SOCKET as ${kind}, systemd is notified of the start, the event loop and the shutdown`,
    { timeout: 120_000 * cpuSlowness },
    async () => {
      using receiver = openNotifyReceiver(address);
      receiver.read();
      const settings = { HLUST_ENGINE: "scripted", HLUST_DRAIN: "1h" };
      const notified = { NOTIFY_SOCKET: address, WATCHDOG_USEC: "2000000" };
      await using service = await startService(data, { ...settings, ...notified });
      await receiver.waitFor("READY=1");
      await receiver.waitFor("WATCHDOG=1");
      const children = [...treeOf(service.pid).slice(1), ...postgresOf(data)];
      assert.ok(children.length > 1);
      for (const { pid, command } of children) {
        const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
        assert.doesNotMatch(environment, /NOTIFY_SOCKET|WATCHDOG_USEC/, command);
      }
      assert.equal(await service.stop(), 0, "a service with nothing open ends at once");
      const lines = receiver.received().flatMap((text) => text.split("\n"));
      const order = ["EXTEND_TIMEOUT_USEC=30000000", "READY=1", "STOPPING=1"];
      const places = order.map((line) => lines.indexOf(line));
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      );
      assert.equal(places.includes(-1), false, lines.join(" "));
      assert.ok(lines.lastIndexOf("EXTEND_TIMEOUT_USEC=30000000") > lines.indexOf("STOPPING=1"));
      assert.equal(service.output().errors.includes("systemd.not_notified"), false);
    },
  );
}

test("systemd gets more time each 10 s while a service starts or stops, and WATCHDOG until its end", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const address = `@${data}-long`;
  using receiver = openNotifyReceiver(address);
  const environment = { NOTIFY_SOCKET: address, WATCHDOG_USEC: "8000000" };
  using supervisor = await openSupervisor(environment, createLog("silent"));
  let seen = 0;
  /** Returns the lines that arrive within this time. */
  const linesIn = (ms: number): readonly string[] => {
    context.mock.timers.tick(ms);
    const texts = receiver.received().slice(seen);
    seen += texts.length;
    return texts.flatMap((text) => text.split("\n"));
  };
  const extension = "EXTEND_TIMEOUT_USEC=30000000";
  assert.deepEqual(linesIn(0), ["STATUS=starting", extension]);
  assert.deepEqual(linesIn(30_000), [extension, extension, extension]);
  supervisor.ready();
  assert.deepEqual(linesIn(0), ["READY=1", "STATUS=ready"]);
  assert.deepEqual(linesIn(8_000), ["WATCHDOG=1", "WATCHDOG=1"]);
  supervisor.stopping();
  assert.deepEqual(linesIn(0), ["STOPPING=1", "STATUS=draining", extension]);
  const drained = linesIn(20_000);
  assert.equal(drained.filter((line) => line === extension).length, 2);
  assert.equal(drained.filter((line) => line === "WATCHDOG=1").length, 5);
});

test(
  "READY is sent again while the queue of systemd is full",
  { timeout: 120_000 * cpuSlowness },
  async () => {
    const address = `@${data}-full`;
    using receiver = openNotifyReceiver(address);
    using supervisor = await openSupervisor({ NOTIFY_SOCKET: address }, createLog("silent"));
    const fill = () => {
      for (;;) sendDatagram(address, "X=1");
    };
    assert.throws(fill, /^Error: sendto: E(?:AGAIN|WOULDBLOCK)$/);
    supervisor.ready();
    await receiver.waitFor("READY=1");
  },
);

test(
  "a $NOTIFY_SOCKET at which nothing receives, or that is not an address, is logged once and stops nothing",
  { timeout: 120_000 * cpuSlowness },
  async () => {
    for (const address of [join(data, "unbound"), "vsock:2:1"]) {
      const notified = { NOTIFY_SOCKET: address, WATCHDOG_USEC: "20000" };
      await using service = await startService(data, { HLUST_ENGINE: "scripted", ...notified });
      assert.equal(await service.stop(), 0);
      assert.equal(service.output().errors.split("systemd.not_notified").length, 2, address);
    }
  },
);
