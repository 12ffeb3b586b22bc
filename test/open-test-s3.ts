import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { randomInt, randomUUID } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { until } from "./until.ts";

/** An S3 server of its own for a test file, empty at first; it and its data are gone when it is disposed of. */
export interface TestS3 extends AsyncDisposable {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The caller of the tests themselves. */
  readonly client: S3Client;
  /** Makes an empty bucket and gives its name. */
  newBucket(): Promise<string>;
  /** Kills the process that keeps the objects, as a crash would; until startObjects() the server answers, but keeps nothing. */
  killObjects(): Promise<void>;
  startObjects(): Promise<void>;
}

const parts = ["proxy", "account", "container", "object"] as const;
type Part = (typeof parts)[number];

/** Beside the range that systems pick from. */
const ports = { proxy: 16200, account: 16201, container: 16202, object: 16203 } as const;

const key = { accessKeyId: "test:tester", secretAccessKey: "testing" };

/** Swift writes what it knows of an object beside it, as an extended attribute: not every temporary folder takes those. */
async function makeFolder(): Promise<string> {
  const setAttribute = "import os, sys; os.setxattr(sys.argv[1], 'user.hlust', b'1')";
  let problem: unknown;
  for (const parent of [tmpdir(), join(import.meta.dirname, "../node_modules")]) {
    const folder = await mkdtemp(join(parent, ".hlust-swift-"));
    try {
      await promisify(execFile)("/usr/bin/python3", ["-c", setAttribute, folder]);
      return folder;
    } catch (error) {
      problem = error;
      await rm(folder, { recursive: true });
    }
  }
  throw new Error("Swift has no folder with extended attributes", { cause: problem });
}

/** OpenStack Swift with its s3api, as Debian packs it: four servers on one disk, each a child process. */
export async function openTestS3(): Promise<TestS3> {
  await using opened = new AsyncDisposableStack();
  const folder = await makeFolder();
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // Of the millions of addresses of the loopback, one that nobody else uses: the ports of it are free.
  const host = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  await configure(folder, host);
  const running = new Map<Part, ChildProcess>();
  opened.defer(async () => {
    for (const child of running.values()) await kill(child);
  });
  const start = async (part: Part): Promise<void> => {
    const child = spawnPart(folder, part);
    running.set(part, child);
    const ended = once(child, "exit").then(async () => {
      throw new Error(`${part}: ${await readFile(outputOf(folder, part), "utf8")}`);
    });
    const url = `http://${host}:${ports[part]}/healthcheck`;
    await Promise.race([until(async () => (await fetch(url)).ok, 120_000), ended]);
  };
  await Promise.all(parts.map(start));
  const endpoint = `http://${host}:${ports.proxy}`;
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: key,
  });
  opened.defer(() => {
    client.destroy();
  });
  const open = opened.move();
  return {
    endpoint,
    ...key,
    client,
    async newBucket() {
      const name = `test-${randomUUID()}`;
      await client.send(new CreateBucketCommand({ Bucket: name }));
      return name;
    },
    async killObjects() {
      const child = running.get("object");
      if (child) await kill(child);
    },
    startObjects: async () => await start("object"),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function outputOf(folder: string, part: Part): string {
  return join(folder, `${part}.log`);
}

function spawnPart(folder: string, part: Part): ChildProcess {
  // With this process it goes, however this process ends.
  const command = `exec setpriv --pdeathsig KILL swift-${part}-server "$1/${part}.conf" >>"$2" 2>&1`;
  return spawn("/bin/sh", ["-c", command, "sh", folder, outputOf(folder, part)], {
    stdio: "ignore",
    // Debian's own, whatever other Python comes first.
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" },
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function configure(folder: string, host: string): Promise<void> {
  mkdirSync(join(folder, "disk/d1"), { recursive: true });
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
  };
  write(
    "swift.conf",
    "[swift-hash]\nswift_hash_path_suffix = test\n[storage-policy:0]\nname = one\ndefault = yes\n",
  );
  for (const part of parts) {
    write(`${part}.conf`, settings(folder, host, part) + (part === "proxy" ? doors : keeper(part)));
  }
  // One disk that has every partition, in one call: the tool for it takes nine.
  const rings = `
import sys
from swift.common.ring import RingBuilder
folder, host, *places = sys.argv[1:]
for place in places:
    name, port = place.split(":")
    builder = RingBuilder(4, 1, 0)
    builder.add_dev(dict(region=1, zone=1, ip=host, port=int(port), device="d1", weight=1,
                         replication_ip=host, replication_port=int(port), meta=""))
    builder.rebalance()
    builder.get_ring().save(folder + "/" + name + ".ring.gz")
`;
  const places = ["account", "container", "object"] as const;
  const named = places.map((part) => `${part}:${ports[part]}`);
  await promisify(execFile)("/usr/bin/python3", ["-c", rings, folder, host, ...named]);
}

function settings(folder: string, host: string, part: Part): string {
  return `
[DEFAULT]
bind_ip = ${host}
bind_port = ${ports[part]}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${folder}/disk
mount_check = false
disable_fallocate = true
recon_cache_path = ${folder}
log_address = /dev/null
[filter:healthcheck]
use = egg:swift#healthcheck
`;
}

function keeper(part: Exclude<Part, "proxy">): string {
  return `
[pipeline:main]
pipeline = healthcheck ${part}-server
[app:${part}-server]
use = egg:swift#${part}
`;
}

const filters = ["catch_errors", "gatekeeper", "listing_formats", "bulk", "slo", "dlo", "copy"];

/** Who killed a server and starts it again is not to wait until it is trusted again. */
const doors = `
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth slo dlo copy proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
error_suppression_limit = 1000000
${filters.map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n`).join("")}
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${key.secretAccessKey} .admin
`;
