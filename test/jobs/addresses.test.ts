import assert from "node:assert/strict";
import { isIP } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { TranscriptJob_State as State } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { fetchMedia } from "../../src/media/fetch-media.ts";
import {
  checkMediaUrl,
  isAddressAllowed,
  notPublic,
  parseMediaAllowList,
  type MediaAllowList,
} from "../../src/media/media-url.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { ServiceError } from "../../src/std/service-error.ts";
import type { JobWithResult } from "../fixtures/job-result.ts";
import { openCanary, serve } from "../fixtures/fetch-fixture.ts";
import {
  jobRequest,
  openJobs,
  toneRecognizer,
  type JobsFixture,
} from "../fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../fixtures/open-test-database.ts";

/**
 * Hosts that are not public addresses, in various notations: a submit with any of them is refused.
 */
const hosts = `
  127.0.0.1 127.0.0.1. 127.1 127.0.1 2130706433 0x7f000001 0x7F.0.0.0x1 0x7f.1 0177.0.0.1 017700000001
  0x7f.0.1 127.000.000.001 127.255.255.254 %31%32%37.0.0.1 127%2e0%2e0%2e1 ①②⑦.⓪.⓪.① １２７.0.0.1
  127。0。0。1 127．0．0．1 127｡0｡0｡1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 0 0.0.0.0 0x0 00 0.1.2.3 [::] [::0.0.0.0]
  10.0.0.1 012.0.0.1 10.255.255.255 167772161 172.16.0.1 172.31.255.255 192.168.1.1 0xc0a80101 192.168.257
  100.64.0.1 100.127.255.255 169.254.0.1 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518
  100.100.100.200 168.63.129.16.0x0 192.0.0.192 192.0.0.8 192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 198.19.255.255
  192.88.99.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 4294967295
  [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:10.0.0.1]
  [::ffff:a9fe:a9fe] [::ffff:0:127.0.0.1] [::127.0.0.1] [::7f00:1] [fe80::1] [febf::1] [fec0::1] [fc00::1] [fdff::1]
  [fd00:ec2::254] [fd20:ce::254] [ff02::1] [ff05::1:3] [64:ff9b::127.0.0.1] [64:ff9b::a00:1] [64:ff9b:1::a00:1]
  [2002:7f00:1::] [2002:a9fe:a9fe::1] [2001::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2] [2001:2::1] [2001:10::1] [2001:20::1]
  [2001:db8::1] [3fff::1] [100::1] [5f00::1] [4000::1] [::ffff:ffff:ffff]
  localhost LOCALHOST localhost. a.localhost loc%61lhost ｌocalhost _http._tcp.localhost
`
  .trim()
  .split(/\s+/)
  // 168.63.129.16 belongs to Azure; everywhere else it is an ordinary public address.
  .filter((host) => !host.startsWith("168."));

/**
 * URLs that lead elsewhere than they seem to, with `{port}`. Each is refused when it is submitted,
 * for one reason or another.
 */
const tricks = [
  "http://media.example@127.0.0.1:{port}/",
  "http://media.example:80@127.0.0.1:{port}/",
  "http://127.0.0.1:{port}\\@media.example/",
  "http://media.example\\@127.0.0.1:{port}/",
  "http:\\\\127.0.0.1:{port}\\",
  "http:127.0.0.1:{port}/",
  "http:///127.0.0.1:{port}/",
  "HtTp://127.0.0.1:{port}/",
  "http://127.0.0.1\t:{port}/",
  "ht\ttp://127.0.0.1:{port}/",
  "\thttp://127.0.0.1:{port}/",
  "http://127.0.0.1:{port}\n/",
  "http://127.0.0.1%0d%0a:{port}/",
  "http://127.0.0.1%00.media.example:{port}/",
  "http://127.0.0.1%20:{port}/",
  "http://[::1%25lo]:{port}/",
  "http://[fe80::1%25eth0]:{port}/",
  "http://[::1]:{port}:80/",
  "http://127.0.0.1:00{port}/",
  "http://0x7f.0.0.0x1.:{port}/",
  "http://1.2.3.4.5:{port}/",
  "http://256.0.0.1:{port}/",
];

/** Names with the addresses to which they resolve. */
const names: Readonly<Record<string, readonly string[]>> = {
  "metadata.google.internal": ["169.254.169.254"],
  "metadata.goog": ["169.254.169.254"],
  "metadata.azure.internal": ["169.254.169.254"],
  "instance-data.ec2.internal": ["169.254.169.254", "fd00:ec2::254"],
  "metadata.aliyun.example": ["100.100.100.200"],
  "kubernetes.default.svc": ["10.96.0.1"],
  "host.docker.internal": ["172.17.0.1"],
  "ip6-localhost": ["::1"],
  localhost6: ["::1"],
  "127.0.0.1.nip.example": ["127.0.0.1"],
  "7f000001.nip.example": ["127.0.0.1"],
  "localtest.example": ["127.0.0.1", "::1"],
  "127.0.0.1..": ["127.0.0.1"],
  "printer.local": ["fe80::1%eth0", "fe80::1"],
  "zone.example": ["2606:4700::1111%eth0"],
  "nothing.example": [],
  "nonsense.example": ["0x7f.1", "2130706433", "127.1", "localhost", ""],
};

let port = 0;
let jobs: JobsFixture;
let account = "";
let allow: MediaAllowList;
let redirects: { readonly url: string; readonly port: number };
let canary: Awaited<ReturnType<typeof openCanary>>;
const opened = new AsyncDisposableStack();
/** The locations to which redirects.example redirects, by path. */
const locations: string[] = [];
/** The addresses to which n<index>.example resolves. */
const answers: (readonly string[])[] = [];

before(async () => {
  const database = opened.use(await openTestDatabase());
  canary = opened.use(await openCanary());
  ({ port } = canary);
  redirects = opened.use(
    await serve(({ url = "", socket }) => {
      const location = locations[Number(url.slice(1))] ?? "";
      socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    }),
  );
  allow = parseMediaAllowList([
    `redirects.example:${redirects.port}`,
    `canary.example:${port}`,
    // This entry ensures that no port is refused before the address is checked.
    `192.0.2.255:${port}`,
  ]);
  const folder = join(database.folder, "jobs");
  jobs = opened.use(await openJobs(database, folder, createLog("silent"), allow));
  account = await jobs.addAccount();
  opened.use(await jobs.openWorker(toneRecognizer(), { resolve, parallelism: 6 }));
});

after(() => opened.disposeAsync());

/** Submits jobs for the URLs, some concurrently, and returns the ended jobs. */
async function ended(urls: readonly string[]): Promise<JobWithResult[]> {
  const results: JobWithResult[] = [];
  const left = [...urls.entries()];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [index, url] = next;
      results[index] = await jobs.ended(account, await jobs.submit(account, jobRequest(url)));
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return results;
}

async function resolve(host: string): Promise<readonly string[]> {
  if (host === "redirects.example" || host === "canary.example") return ["127.0.0.1"];
  const index = /^n(\d+)\.example$/.exec(host)?.[1];
  return index === undefined ? (names[host] ?? []) : (answers[Number(index)] ?? []);
}

function urlOf(host: string): string {
  return `http://${host}:${port}/a.wav`;
}

function withPort(trick: string): string {
  return trick.replace("{port}", `${port}`);
}

/** Returns the address of a host as the URL parser reads it. */
function addressOf(host: string): string {
  return URL.parse(urlOf(host))?.hostname.replace(/^\[|\]$/g, "") ?? "";
}

test("a submit with a non-public address is refused, however it is written", async () => {
  assert.ok(hosts.length >= 60, `${hosts.length}`);
  for (const url of [...hosts.map(urlOf), ...tricks.map(withPort)]) {
    await assert.rejects(jobs.submit(account, jobRequest(url)), (error) => {
      assert.ok(error instanceof ServiceError, url);
      assert.equal(error.code, "invalid_argument", url);
      assert.deepEqual(
        error.violations.map(({ field }) => field),
        ["uri"],
      );
      const isHost = hosts.some((host) => url === urlOf(host));
      if (isHost) assert.equal(error.violations[0]?.description, notPublic, url);
      return true;
    });
  }
  assert.equal(canary.connections(), 0);
});

test("a job with a name that resolves to no public address FAILS, always with the same message", async () => {
  const urls = Object.keys(names).map(urlOf);
  const addresses = hosts.flatMap((host) => {
    const address = addressOf(host);
    // The addresses are in usual and unusual notations.
    return isIP(address) === 0 ? [] : [address, host.replace(/^\[|\]$/g, "")];
  });
  assert.ok(addresses.length >= 160, `${addresses.length}`);
  // A single address that is treated as public would be a leak.
  for (let at = 0; at < addresses.length; at += 12) {
    urls.push(urlOf(`n${answers.push(addresses.slice(at, at + 12)) - 1}.example`));
  }
  for (const [index, job] of (await ended(urls)).entries()) {
    const name = `${urls[index]} at ${answers[index - Object.keys(names).length]?.join()}`;
    assert.equal(job.state, State.ERROR, name);
    assert.deepEqual([job.error?.code, job.error?.message], [9, notPublic], name);
  }
  assert.equal(canary.connections(), 0);
});

test("a redirect to a non-public address is not followed, however it is written", async () => {
  const plain = [...hosts, ...Object.keys(names)].map(urlOf);
  const targets = [...plain, ...tricks.map(withPort)];
  const urls = targets.map(
    (target) => `http://redirects.example:${redirects.port}/${locations.push(target) - 1}`,
  );
  const others = [
    "the URL redirects to one that has a user name or password in it",
    "the URL redirects to one that is not a valid URL",
    // A backslash counts as a slash here, and a line end breaks the header.
    "the server of the media does not answer in HTTP",
    // Without slashes, the target is a path on the same server, which redirects to itself.
    "the URL redirects more than 5 times",
  ];
  for (const [index, url] of urls.entries()) {
    const target = targets[index] ?? "";
    const words = index < plain.length ? [notPublic] : [notPublic, ...others];
    const fetched = fetchMedia({
      url,
      id: newId(),
      store: jobs.store,
      allow,
      bytesMax: 1_000,
      resolve,
    });
    await assert.rejects(fetched, (error) => {
      assert.ok(error instanceof ServiceError, target);
      assert.ok(words.includes(error.message), `${target}: ${error.message}`);
      return true;
    });
  }
  const some = await ended(urls.filter((_, index) => index % 20 === 0));
  for (const { state, error } of some) assert.deepEqual([state, error?.code], [State.ERROR, 9]);
  assert.equal(canary.connections(), 0);
});

test("public addresses remain allowed, however they are written", async () => {
  const nothing = parseMediaAllowList([]);
  const addresses = `
    1.1.1.1 8.8.8.8 134744072 0x8080808 010.8.8.8 0000127.0.0.1 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1
    169.253.255.255 169.255.0.1 172.15.255.255 172.32.0.1 191.255.255.255 192.0.1.1 192.167.255.255 192.169.0.1 198.17.255.255
    198.20.0.1 223.255.255.255 [2606:4700::1111] [2a00:1450:400f::200e] [2001:200::1] [2001:4860:4860::8888]
    [2003::1] [::ffff:8.8.8.8] [2620:fe::fe] [3ffe::1]
  `
    .trim()
    .split(/\s+/);
  for (const address of addresses) {
    assert.equal(checkMediaUrl(`https://${address}/a.wav`, nothing), undefined, address);
    const target = { host: "media.example", port: 443 };
    assert.ok(isAddressAllowed(target, addressOf(address), nothing), address);
  }
  // The canary records every connection.
  const [job] = await ended([`http://canary.example:${port}/`]);
  assert.equal(job?.error?.message, "the server of the media closed the connection");
  assert.equal(canary.connections(), 4);
});
