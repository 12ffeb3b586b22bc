import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startProxy } from "./proxy-process.ts";
import { shownConfig } from "./shown-config.ts";
import type { Certificate } from "./trusted-certificate.ts";

/** HAProxy of Debian with the configuration of docs/operations/haproxy.cfg. */
export interface TestHaproxy extends AsyncDisposable {
  /** https://<host>:<port> */
  readonly address: string;
  /** Servers that take calls by their checks, each as speech/api1. */
  readyServers(): Promise<Set<string>>;
}

/** `replacements`: of addresses and times; see shownConfig(). `folder`: an empty one for its files. `port`: a free one. */
export async function openTestHaproxy(options: {
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  readonly certificate: Certificate;
  readonly replacements: Readonly<Record<string, string>>;
}): Promise<TestHaproxy> {
  const { folder, host, port, certificate, replacements } = options;
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "haproxy.cfg");
  const pem = join(folder, "both.pem");
  const control = join(folder, "admin.sock");
  writeFileSync(
    pem,
    Buffer.concat([readFileSync(certificate.certificate), readFileSync(certificate.key)]),
  );
  const text = shownConfig("haproxy.cfg", {
    "bind :443": `bind ${host}:${port}`,
    "/etc/haproxy/hlust.pem": pem,
    "/run/haproxy/admin.sock": control,
    // The test's own user runs it, with the files that it may open.
    "maxconn 20000": "maxconn 2000",
    "    user haproxy\n    group haproxy\n": "",
    ...replacements,
  });
  writeFileSync(config, text);
  const ready = () => readyServers(control);
  const started = await startProxy(["/usr/sbin/haproxy", "-db", "-f", config], async () => {
    return (await ready()) !== undefined;
  });
  return {
    address: `https://${host}:${port}`,
    readyServers: ready,
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  };
}

/** As its control socket tells; backups, which have no check, are left out. */
async function readyServers(control: string): Promise<Set<string>> {
  const socket = connect(control);
  socket.end("show stat\n");
  const [header = "", ...rows] = (await text(socket)).trim().split("\n");
  const names = header.replace(/^# /, "").split(",");
  const [proxy, server, status] = ["pxname", "svname", "status"].map((name) => names.indexOf(name));
  const ready = rows
    .map((row) => row.split(","))
    .filter((row) => row[status ?? 0]?.startsWith("UP"))
    .map((row) => `${row[proxy ?? 0]}/${row[server ?? 0]}`);
  return new Set(ready.filter((name) => !name.endsWith("/BACKEND")));
}
