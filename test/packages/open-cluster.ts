import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { parseEnv } from "node:util";
import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { openTestS3, type TestS3 } from "../fixtures/open-test-s3.ts";
import { ClusterNode, image } from "./cluster-node.ts";
import { ClusterPlaces, type Place } from "./cluster-places.ts";
import { startClusterPostgres } from "./cluster-postgres.ts";
import { authorityOf, startCaddy, startPrometheus } from "./cluster-programs.ts";
import { enterOwnNetwork } from "./own-network.ts";
import {
  deployFolder,
  environmentOf,
  filledComposition,
  neededBy,
  isHealthNeeded,
  readComposition,
  type Service,
} from "./composition.ts";

const file = "compose.cluster.yaml";

/** The cluster of deploy/compose.cluster.yaml, as processes. */
export interface Cluster extends AsyncDisposable {
  readonly places: ClusterPlaces;
  /** https:// and the domain. */
  readonly address: string;
  /** The file with the certificate of the authority that Caddy has made. */
  readonly authority: string;
  readonly s3: TestS3;
  /** Returns the nodes of a service. */
  nodes(service: string): readonly ClusterNode[];
}

/**
 * Starts every service of the compose file in the order of `depends_on`, each with the program that
 * its image has: Hlust, PostgreSQL, Caddy and Prometheus. Swift is the store, and gets the bucket
 * that the service `bucket` makes. Debian has no Grafana. Of the compose file and the files that it
 * mounts only what ClusterPlaces changes is different. This process moves into the network of the
 * cluster, so that the cluster has the addresses and ports of the compose file. `counts` has how
 * many containers a service has, as `up --scale` does.
 */
export async function openCluster(counts: Readonly<Record<string, number>>): Promise<Cluster> {
  await using opened = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-cluster-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  // Swift has these credentials.
  const keys = { S3_ACCESS_KEY_ID: "test:tester", S3_SECRET_ACCESS_KEY: "testing" };
  const values = { ...environmentFile(folder), ...keys };
  const imageVolumes = (name: string) => (name.includes("hlust:") ? image.volumes : []);
  const options = { folder, counts, secrets: values, imageVolumes };
  const places = new ClusterPlaces(readComposition(file), options);
  enterOwnNetwork(places.subnet);
  const [caddy] = places.of("caddy");
  assert.ok(caddy);
  const { services } = filledComposition(file, { ...values, DOMAIN: caddy.address });
  const starts = opened.use(new ClusterStarts(services, places));
  await Promise.all(Object.keys(services).map((name) => starts.start(name)));
  const { s3, nodes } = starts;
  assert.ok(s3, "the compose file has a store");
  const authority = authorityOf(caddy, places);
  setDefaultCACertificates([...getCACertificates("default"), readFileSync(authority, "utf8")]);
  const open = opened.move();
  return {
    places,
    address: `https://${caddy.address}`,
    authority,
    s3,
    nodes: (service) => nodes.get(service) ?? assert.fail(`${service} is not a node`),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Returns deploy/.env as the command of docs/install.md makes it, in a folder. */
function environmentFile(folder: string): Record<string, string> {
  const guide = readFileSync(join(deployFolder, "../docs/install.md"), "utf8");
  const [, command] = /^(\[ -e deploy\/\.env \][^]*?)^nano deploy\/\.env/m.exec(guide) ?? [];
  assert.ok(command, "docs/install.md has the command");
  const path = join(folder, ".env");
  const placed = command.replaceAll("deploy/.env", path);
  const options = { cwd: join(deployFolder, ".."), encoding: "utf8" } as const;
  for (let time = 0; time < 2; time += 1) {
    const { status, stderr } = spawnSync("/bin/sh", ["-euc", placed], options);
    assert.equal(status, 0, stderr);
  }
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const values = parseEnv(readFileSync(path, "utf8"));
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? ""]));
}

/** Starts services, each after those that it needs. */
class ClusterStarts implements AsyncDisposable {
  readonly nodes = new Map<string, readonly ClusterNode[]>();
  readonly #services: Readonly<Record<string, Service>>;
  readonly #places: ClusterPlaces;
  readonly #starts = new Map<string, Promise<void>>();
  readonly #opened = new AsyncDisposableStack();
  #s3: TestS3 | undefined;

  constructor(services: Readonly<Record<string, Service>>, places: ClusterPlaces) {
    this.#services = services;
    this.#places = places;
  }

  get s3(): TestS3 | undefined {
    return this.#s3;
  }

  async start(name: string): Promise<void> {
    const service = this.#services[name];
    assert.ok(service, name);
    const started =
      this.#starts.get(name) ??
      Promise.all(neededBy(service).map((needed) => this.start(needed))).then(() =>
        this.#run(name, service),
      );
    this.#starts.set(name, started);
    await started;
  }

  async #run(name: string, service: Service): Promise<void> {
    const [first] = this.#places.of(name);
    assert.ok(first, name);
    const [, program = ""] = /([\w-]+):[^/]*$/.exec(service.image) ?? [];
    switch (program) {
      case "hlust":
        await this.#runNodes(name, service);
        break;
      case "postgres":
        this.#opened.use(await startClusterPostgres(first, service, this.#places));
        break;
      case "seaweedfs":
        await this.#runStore(first, service);
        break;
      case "caddy":
        this.#opened.use(await startCaddy(first, service, this.#places));
        break;
      case "prometheus":
        this.#opened.use(await startPrometheus(first, this.#places));
        break;
      default:
        assert.equal(program, "grafana", `no program for ${service.image}`);
    }
  }

  async #runNodes(name: string, service: Service): Promise<void> {
    const nodes = this.#places.of(name).map((place) => {
      return this.#opened.use(new ClusterNode(place, service, this.#places));
    });
    this.nodes.set(name, nodes);
    await Promise.all(nodes.map((node) => node.start()));
    if (isHealthNeeded(name, this.#services)) {
      await Promise.all(nodes.map((node) => node.checkHealth()));
    }
  }

  /** Starts the store, or makes the bucket. */
  async #runStore(place: Place, service: Service): Promise<void> {
    const { command = "" } = service;
    if (typeof command === "string") {
      const port = Number(/ -s3\.port=(\d+)/.exec(command)?.[1]);
      this.#s3 = this.#opened.use(await openTestS3({ host: place.address, port }));
      const environment = environmentOf(service);
      assert.equal(environment["AWS_ACCESS_KEY_ID"], this.#s3.accessKeyId);
      assert.equal(environment["AWS_SECRET_ACCESS_KEY"], this.#s3.secretAccessKey);
      return;
    }
    const [, Bucket] = /s3\.bucket\.create -name ([a-z-]+)/.exec(command.join("\n")) ?? [];
    await this.#s3?.client.send(new CreateBucketCommand({ Bucket }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}
