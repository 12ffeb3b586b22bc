import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestHaproxy, type TestHaproxy } from "../fixtures/open-test-haproxy.ts";
import { openTestPgbouncer, type TestPgbouncer } from "../fixtures/open-test-pgbouncer.ts";
import { openTestNginx, type TestNginx } from "../fixtures/open-test-nginx.ts";
import { freePort } from "../fixtures/free-port.ts";
import { shownConfig } from "../fixtures/shown-config.ts";
import { trustedCertificate, type Certificate } from "../fixtures/trusted-certificate.ts";
import { until } from "../fixtures/until.ts";
import { openFaultPostgres, type FaultPostgres } from "./open-fault-postgres.ts";
import { startService, type ServiceProcess } from "./process.ts";

/**
 * A node with its own address, as on a machine of its own. Its port does not change when it is
 * restarted.
 */
export class NodeProcess {
  readonly name: string;
  readonly dataFolder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #service: ServiceProcess | undefined;

  constructor(name: string, dataFolder: string, environment: Readonly<Record<string, string>>) {
    this.name = name;
    this.dataFolder = dataFolder;
    this.#environment = environment;
  }

  get service(): ServiceProcess {
    return this.#service ?? assert.fail(`${this.name} was not started`);
  }

  async start(): Promise<void> {
    this.#service = await startService(this.dataFolder, this.#environment);
  }

  async restart(): Promise<void> {
    assert.equal(await this.service.stop(), 0, `${this.name}: ${this.service.output().errors}`);
    await this.start();
  }

  async end(): Promise<void> {
    await this.#service?.stop();
  }
}

/**
 * Two API nodes and two workers with one database, through PgBouncer, and one shared media folder,
 * behind HAProxy and nginx, configured as in docs/operations.
 */
export interface Nodes extends AsyncDisposable {
  readonly apis: readonly [NodeProcess, NodeProcess];
  readonly workers: readonly [NodeProcess, NodeProcess];
  readonly postgres: FaultPostgres;
  readonly pgbouncer: TestPgbouncer;
  readonly haproxy: TestHaproxy;
  readonly nginx: TestNginx;
  /** Opens another pair of proxies, with additional replacements in their configurations. */
  openProxies(replacements: {
    readonly haproxy: Readonly<Record<string, string>>;
    readonly nginx: Readonly<Record<string, string>>;
  }): Promise<{ readonly haproxy: TestHaproxy; readonly nginx: TestNginx } & AsyncDisposable>;
  /** Makes the shared media unavailable while `action` runs. */
  withoutMedia(action: () => Promise<void>): Promise<void>;
  /** Waits until HAProxy sends every kind of call to each API node. */
  untilReady(): Promise<void>;
  /** An address of this machine from which no other test makes calls. */
  readonly otherCaller: string;
}

/** The proxies run their checks four times as often as in the documentation. */
const quicker = { "inter 1s": "inter 250ms" };

export async function openNodes(): Promise<Nodes> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-several-"));
  opened.defer(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  // Each node has its own loopback address (there are millions) and the same port.
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const [port, proxyPort] = [await freePort(), await freePort()];
  const certificate = await trustedCertificate(
    folder,
    Array.from({ length: 60 }, (_, at) => `${network}.${at + 1}`),
  );
  const openProxies = createOpenProxies({ folder, network, port, proxyPort, certificate });
  const { haproxy, nginx } = opened.use(await openProxies({ haproxy: quicker, nginx: {} }));
  const postgres = opened.use(await openFaultPostgres(join(folder, "pg"), {}));
  const pgbouncer = opened.use(
    await openTestPgbouncer({
      postgres: join(folder, "pg", "18"),
      mode: "transaction",
      settings: poolSettings(),
    }),
  );

  const media = join(folder, "media");
  mkdirSync(media);
  const newNode = (name: string, host: string): NodeProcess => {
    const dataFolder = join(folder, name);
    mkdirSync(dataFolder);
    symlinkSync(media, join(dataFolder, "media"));
    const node = new NodeProcess(name, dataFolder, {
      HLUST_HOST: host,
      HLUST_PORT: String(port),
      HLUST_ROLE: name.replace(/\d$/, ""),
      HLUST_ENGINE: "scripted",
      HLUST_PUBLIC_URL: haproxy.address,
      HLUST_DRAIN_DELAY: "2",
      HLUST_TRUSTED_PROXIES: "127.0.0.1",
      DATABASE_URL: pgbouncer.url("postgres"),
    });
    opened.defer(() => node.end());
    return node;
  };
  const apis = [newNode("api1", `${network}.11`), newNode("api2", `${network}.12`)] as const;
  const workers = [
    newNode("worker1", `${network}.21`),
    newNode("worker2", `${network}.22`),
  ] as const;
  // The first node creates the account and its key.
  await apis[0].start();
  await Promise.all([apis[1], ...workers].map((node) => node.start()));

  const open = opened.move();
  return {
    apis,
    workers,
    postgres,
    pgbouncer,
    haproxy,
    nginx,
    openProxies,
    otherCaller: `${network}.200`,
    async withoutMedia(action) {
      renameSync(media, `${media}.away`);
      try {
        await action();
      } finally {
        renameSync(`${media}.away`, media);
      }
    },
    async untilReady() {
      await until(async () => (await haproxy.readyServers()).size === allServers, 30_000);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/**
 * Returns openProxies(), which gives each proxy the next address of `network` and puts its files in
 * `folder`.
 */
function createOpenProxies(options: {
  readonly folder: string;
  readonly network: string;
  /** The port of the nodes. */
  readonly port: number;
  readonly proxyPort: number;
  readonly certificate: Certificate;
}): Nodes["openProxies"] {
  const { folder, network, port, proxyPort, certificate } = options;
  let proxies = 0;
  const next = () => {
    proxies += 1;
    const host = `${network}.${proxies}`;
    return { host, port: proxyPort, folder: join(folder, `proxy-${proxies}`), certificate };
  };
  const nodes = { "10.0.0.": `${network}.`, ":8080": `:${port}` };
  return async ({ haproxy, nginx }) => {
    await using both = new AsyncDisposableStack();
    const opened = {
      haproxy: both.use(
        await openTestHaproxy({ ...next(), replacements: { ...nodes, ...haproxy } }),
      ),
      nginx: both.use(await openTestNginx({ ...next(), replacements: { ...nodes, ...nginx } })),
    };
    const open = both.move();
    return { ...opened, [Symbol.asyncDispose]: () => open.disposeAsync() };
  };
}

/**
 * The number of HAProxy servers for two nodes: for speech and for everything else, over HTTP/1.1
 * and HTTP/2.
 */
const allServers = 2 * 2 * 2;

/**
 * Returns the PgBouncer settings in the documentation, except the paths, users and mode, for which
 * a test has its own.
 */
function poolSettings(): string[] {
  const [, section = ""] = shownConfig("pgbouncer.ini", {}).split("[pgbouncer]\n");
  const lines = section.split("\n").filter((line) => /^\w+ = /.test(line));
  assert.ok(lines.includes("pool_mode = transaction"));
  return lines.filter((line) => !/^(listen|auth|pool_mode)/.test(line));
}
