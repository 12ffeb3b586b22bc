import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProxy } from "./proxy-process.ts";
import { shownConfig } from "./shown-config.ts";
import type { Certificate } from "./trusted-certificate.ts";

/** nginx of Debian with the configuration of docs/operations/nginx.conf. */
export interface TestNginx extends AsyncDisposable {
  /** https://<host>:<port> */
  readonly address: string;
}

const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] as const;

/** `replacements`: of addresses and times; see shownConfig(). `folder`: an empty one for its files. `port`: a free one. */
export async function openTestNginx(options: {
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  readonly certificate: Certificate;
  readonly replacements: Readonly<Record<string, string>>;
}): Promise<TestNginx> {
  const { folder, host, port, certificate, replacements } = options;
  mkdirSync(folder, { recursive: true });
  const site = shownConfig("nginx.conf", {
    "listen 443": `listen ${host}:${port}`,
    "/etc/nginx/hlust.pem": certificate.certificate,
    "/etc/nginx/hlust.key": certificate.key,
    ...replacements,
  });
  writeFileSync(join(folder, "site.conf"), site);
  const paths = temporary.map((name) => `${name}_temp_path ${join(folder, name)};`);
  const main = `daemon off;
master_process off;
pid ${join(folder, "pid")};
events { worker_connections 1000; }
http {
  access_log off;
  ${paths.join("\n  ")}
  include ${join(folder, "site.conf")};
}
`;
  writeFileSync(join(folder, "nginx.conf"), main);
  const log = join(folder, "error.log");
  const command = ["/usr/sbin/nginx", "-e", log, "-c", join(folder, "nginx.conf")];
  const address = `https://${host}:${port}`;
  // Whatever it answers.
  const started = await startProxy(command, async () => (await fetch(address)).status > 0);
  return { address, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
}
