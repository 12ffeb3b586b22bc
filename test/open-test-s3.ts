import { execFile, spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { randomInt, randomUUID } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
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
  /** Halts the process that callers reach, so that connections open and nothing answers; `goOn` lets it go on. */
  halt(): { readonly goOn: () => void };
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

/** OpenStack Swift with its s3api, as Debian packs it: four servers on one disk, each a process. */
export async function openTestS3(): Promise<TestS3> {
  await using opened = new AsyncDisposableStack();
  const folder = await makeFolder();
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // Of the millions of addresses of the loopback, one that nobody else uses: the ports of it are free.
  const host = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  configure(folder, host);
  const swift = opened.use(new Swift(folder, host));
  const start = async (part: Part): Promise<void> => {
    const ended = swift.start(part).ended.then(async () => {
      const output = await readFile(outputOf(folder, part), "utf8").catch(() => "");
      throw new Error(`${part}: ${swift.errors}${output}`);
    });
    // Who is killed later ends, too.
    ended.catch(() => {});
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
    killObjects: async () => await swift.kill("object"),
    startObjects: async () => await start("object"),
    halt() {
      swift.halt("proxy");
      return {
        goOn: () => {
          swift.goOn("proxy");
        },
      };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function outputOf(folder: string, part: Part): string {
  return join(folder, `${part}.log`);
}

/** Makes the rings, loads what all parts are made of, once, and starts and kills parts in processes forked from it, as it is told. */
const swiftProgram = `
import ctypes, os, signal, sys
from select import select
# As each part would: it takes a second where much is loaded, and nothing where it was done.
import eventlet.patcher
eventlet.patcher.monkey_patch(all=False, socket=True, select=True, thread=True)
import swift.account.server, swift.container.server, swift.obj.server, swift.proxy.server
import swift.common.middleware.s3api.s3api
from swift.common.ring import RingBuilder
from swift.common.utils import parse_options
from swift.common.wsgi import run_wsgi

folder, host, *places = sys.argv[1:]
running = {}

def make_rings():
    # One disk that has every partition, in one process: the tool for it takes nine.
    for place in places:
        name, port = place.split(":")
        builder = RingBuilder(4, 1, 0)
        builder.add_dev(dict(region=1, zone=1, ip=host, port=int(port), device="d1", weight=1,
                             replication_ip=host, replication_port=int(port), meta=""))
        builder.rebalance()
        builder.get_ring().save(folder + "/" + name + ".ring.gz")

def run(part):
    # With this process it goes, however this process ends.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    log = os.open(folder + "/" + part + ".log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    sys.argv = ["swift-" + part + "-server", folder + "/" + part + ".conf"]
    conf, options = parse_options()
    if part == "object":
        options["global_conf_callback"] = swift.obj.server.global_conf_callback
    sys.exit(run_wsgi(conf, part + "-server", **options))

def start(part):
    pid = os.fork()
    if pid == 0:
        for other in running:
            os.close(other)
        run(part)
    running[os.pidfd_open(pid)] = (pid, part)

def tell_ends(ready):
    for pidfd in ready:
        if pidfd in running:
            pid, part = running.pop(pidfd)
            os.close(pidfd)
            os.waitpid(pid, 0)
            print("ended", part, flush=True)

make_rings()
unread = b""
while True:
    ready, _, _ = select([0, *running], [], [])
    tell_ends(ready)
    if 0 not in ready:
        continue
    read = os.read(0, 1000)
    if not read:
        break
    *lines, unread = (unread + read).split(b"\\n")
    for line in lines:
        what, part = line.decode().split(" ")
        if what == "start":
            start(part)
        signals = dict(kill=signal.SIGKILL, halt=signal.SIGSTOP, goon=signal.SIGCONT)
        for pid, name in running.values():
            if what in signals and name == part:
                os.kill(pid, signals[what])
`;

/** The processes of Swift, which begin and end on demand. */
class Swift implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  /** Who waits for the end of a part. */
  readonly #ends = new EventEmitter();
  #errors = "";

  constructor(folder: string, host: string) {
    const places = ["account", "container", "object"] as const;
    const named = places.map((part) => `${part}:${ports[part]}`);
    const program = ["/usr/bin/python3", "-c", swiftProgram, folder, host, ...named];
    // With this process it goes, however this process ends.
    this.#child = spawn("/usr/bin/setpriv", ["--pdeathsig", "KILL", ...program], {
      stdio: ["pipe", "pipe", "pipe"],
      // Debian's own, whatever other Python comes first.
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" },
    });
    const { stdout, stderr, stdin } = this.#child;
    if (!stdout || !stderr || !stdin) throw new Error("no pipes");
    stdin.on("error", () => {});
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    createInterface(stdout).on("line", (line) => this.#ends.emit(line));
    this.#exited = once(this.#child, "exit").then(() => {
      for (const part of parts) this.#ends.emit(`ended ${part}`);
    });
  }

  /** What was said that no part said. */
  get errors(): string {
    return this.#errors;
  }

  /** Starts a part; `ended` resolves when it is gone. */
  start(part: Part): { readonly ended: Promise<unknown> } {
    const ended = once(this.#ends, `ended ${part}`);
    this.#child.stdin?.write(`start ${part}\n`);
    return { ended };
  }

  /** kill -9 of a part; resolves when it is gone. */
  async kill(part: Part): Promise<void> {
    const ended = once(this.#ends, `ended ${part}`);
    this.#child.stdin?.write(`kill ${part}\n`);
    await ended;
  }

  halt(part: Part): void {
    this.#child.stdin?.write(`halt ${part}\n`);
  }

  goOn(part: Part): void {
    this.#child.stdin?.write(`goon ${part}\n`);
  }

  /** Whoever is left goes with it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}

function configure(folder: string, host: string): void {
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
