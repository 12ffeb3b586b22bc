import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { NetworkInterfaceInfo } from "node:os";
import { test } from "node:test";
import {
  askAlone,
  loopback,
  openServiceBrowser,
  type FoundRecord,
  type ServiceBrowser,
} from "../../../test/dialects/service-browser.ts";
import { openKeptLog } from "../../../test/fixtures/kept-log.ts";
import { until } from "../../../test/fixtures/until.ts";
import { createLog, type Log } from "../../std/log.ts";
import { announcedNetworks, openAnnouncement, type AnnouncementOptions } from "./announcement.ts";

const type = "_wyoming._tcp.local";
const at = { host: "127.0.0.1", port: 10_300 };

function announce(
  { dnsPort }: Pick<ServiceBrowser, "dnsPort">,
  options: AnnouncementOptions = {},
  log: Log = createLog("silent"),
): AsyncDisposable {
  return openAnnouncement(at, log, { interfaces: () => loopback, dnsPort, ...options });
}

function withType(records: readonly FoundRecord[], recordType: string): FoundRecord {
  const found = records.find((record) => record.type === recordType);
  assert.ok(found, `no ${recordType} record`);
  return found;
}

test("a service is announced twice, answers questions, and says goodbye", async () => {
  await using browser = await openServiceBrowser();
  const { log, of } = openKeptLog();
  const startMs = performance.now();
  await using announcement = announce(browser, {}, log);
  const [first, second] = [await browser.next(), await browser.next()];
  assert.ok(performance.now() - startMs > 990, "a record is multicast at most once a second");
  assert.deepEqual(first, second);
  // What does not concern the service gets no answer, and invalid packets do no harm.
  browser.send(Buffer.from("not DNS"));
  browser.ask("_http._tcp.local", "PTR");
  for (let count = 0; count < 5; count += 1) browser.ask("_Wyoming._TCP.local", "PTR");
  const answer = await browser.next();
  const pointer = answer.find(({ name }) => name === type);
  const { name, data } = withType(answer, "SRV");
  assert.match(name, /^hlust-[a-z\d-]+-10300\._wyoming\._tcp\.local$/);
  assert.deepEqual([pointer?.data, pointer?.flush], [name, false]);
  assert.equal(data.port, 10_300);
  assert.equal(withType(answer, "TXT").name, name);
  const { name: target, data: address, flush } = withType(answer, "A");
  assert.deepEqual([target, address, flush], [data.target, "127.0.0.1", true]);
  browser.ask(data.target, "A");
  // Five questions at once got one answer: the next one is for the question after them.
  assert.deepEqual(await browser.next(), answer);
  await announcement[Symbol.asyncDispose]();
  assert.deepEqual(of("wyoming.announce_failed"), []);
  const end = await browser.next();
  assert.ok(end.every(({ ttl }) => ttl === 0));
  assert.equal(withType(end, "PTR").data, name);
});

test("a resolver of unicast DNS gets an answer of its own, for a short time", async () => {
  await using browser = await openServiceBrowser();
  await using _announcement = announce(browser);
  await browser.next();
  const { id, questions, answers, additionals } = await askAlone(browser.dnsPort, type);
  assert.equal(id, 4_711);
  assert.equal(questions[0]?.name, type);
  assert.deepEqual(
    answers.map((record) => record.name),
    [type],
  );
  assert.equal(withType(additionals, "SRV").data.port, 10_300);
  for (const { ttl, flush } of [...answers, ...additionals]) {
    assert.deepEqual([ttl, flush], [10, false]);
  }
});

test("questions from other networks get no answer", async () => {
  await using browser = await openServiceBrowser();
  const [info] = loopback["lo"] ?? [];
  assert.ok(info);
  const interfaces = () => ({ lo: [{ ...info, cidr: "127.0.0.2/32" }] });
  const { dnsPort } = browser;
  const far = { host: "127.0.0.1", port: 10_301 };
  await using _far = openAnnouncement(far, createLog("silent"), { interfaces, dnsPort });
  await using _near = announce(browser);
  const nextPort = async () => withType(await browser.next(), "SRV").data.port;
  const announced = [await nextPort(), await nextPort(), await nextPort(), await nextPort()];
  assert.deepEqual(
    announced.toSorted((a, b) => a - b),
    [10_300, 10_300, 10_301, 10_301],
  );
  for (let count = 0; count < 2; count += 1) {
    browser.ask(type, "PTR");
    assert.equal(await nextPort(), 10_300);
  }
});

test("networks that come later are announced to, and get a goodbye when they go", async () => {
  await using browser = await openServiceBrowser();
  let interfaces: typeof loopback = {};
  const { log, lines, of } = openKeptLog();
  await using _announcement = announce(browser, { interfaces: () => interfaces, lookMs: 20 }, log);
  const [line] = lines;
  assert.equal(
    line?.["error"],
    "no network with IPv4 has an address at which Wyoming listens (127.0.0.1)",
  );
  interfaces = loopback;
  assert.equal(withType(await browser.next(), "A").data, "127.0.0.1");
  interfaces = {};
  await browser.goodbye();
  assert.equal(of("wyoming.announce_failed").length, 1);
});

test("an error of the socket is logged, and the announcement follows once it can", async () => {
  const other = createSocket("udp4");
  using _closed = { [Symbol.dispose]: () => void other.unref() };
  other.bind(0, "0.0.0.0");
  await once(other, "listening");
  const { log, of } = openKeptLog();
  const failures = () => of("wyoming.announce_failed").filter(({ code }) => code === "EADDRINUSE");
  const dnsPort = other.address().port;
  await using _announcement = announce({ dnsPort }, { lookMs: 20 }, log);
  await until(async () => await Promise.resolve(failures().length > 0));
  other.close();
  await once(other, "close");
  assert.equal((await askAlone(dnsPort, type)).id, 4_711);
  assert.equal(failures().length, 1);
});

test("announcedNetworks() has the addresses at which a listener can be reached", () => {
  const [v4] = loopback["lo"] ?? [];
  assert.ok(v4);
  const info = (address: string, cidr: string, internal = false): NetworkInterfaceInfo =>
    address.includes(":")
      ? { ...v4, family: "IPv6", scopeid: 0, address, cidr, internal }
      : { ...v4, address, cidr, internal };
  const interfaces = {
    lo: [info("127.0.0.1", "127.0.0.1/8", true), info("::1", "::1/128", true)],
    lan: [
      info("192.0.2.2", "192.0.2.2/24"),
      info("2001:db8::2", "2001:db8::2/64"),
      info("fe80::2", "fe80::2/64"),
    ],
    tunnel: [info("2001:db8:1::3", "2001:db8:1::3/64")],
    bridge: [info("198.51.100.1", "198.51.100.1/24")],
  };
  const rows: [host: string, served: Record<string, string[]>][] = [
    ["0.0.0.0", { "192.0.2.2": ["192.0.2.2"], "198.51.100.1": ["198.51.100.1"] }],
    ["::", { "192.0.2.2": ["192.0.2.2", "2001:db8::2"], "198.51.100.1": ["198.51.100.1"] }],
    ["192.0.2.2", { "192.0.2.2": ["192.0.2.2"] }],
    ["2001:db8::2", { "192.0.2.2": ["2001:db8::2"] }],
    ["2001:db8:1::3", {}],
    ["127.0.0.1", {}],
  ];
  for (const [host, served] of rows) {
    const found = announcedNetworks(interfaces, host);
    assert.deepEqual(
      Object.fromEntries(found.map((network) => [network.address, network.served])),
      served,
      host,
    );
  }
});
