import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startProxy } from "../fixtures/proxy-process.ts";
import type { ClusterPlaces, Place } from "./cluster-places.ts";
import { environmentOf, type Service } from "./composition.ts";

/** Returns the file with the certificate of the authority that Caddy has made. */
export function authorityOf(place: Place, places: ClusterPlaces): string {
  return join(places.placed("/data", place), "caddy/pki/authorities/local/root.crt");
}

/**
 * Starts Caddy with the command of its image. It makes its own certificate, since the domain is an
 * address of this machine.
 */
export async function startCaddy(
  place: Place,
  service: Service,
  places: ClusterPlaces,
): Promise<AsyncDisposable> {
  const here = `{\n\tdefault_bind ${place.address}\n\tskip_install_trust\n}\n`;
  const file = places.placedFile("/etc/caddy/Caddyfile", place, (text) => here + text);
  const data = places.placed("/data", place);
  const settings = {
    ...environmentOf(service),
    XDG_DATA_HOME: data,
    XDG_CONFIG_HOME: data,
    HOME: data,
  };
  const environment = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const run = ["/usr/bin/caddy", "run", "--config", file, "--adapter", "caddyfile"];
  return await startProxy(["/usr/bin/env", ...environment, ...run], async () => {
    readFileSync(authorityOf(place, places));
    return (await fetch(`http://${place.address}/`, { redirect: "manual" })).status === 308;
  });
}

/** Starts Prometheus with the command of its image. */
export async function startPrometheus(
  place: Place,
  places: ClusterPlaces,
): Promise<AsyncDisposable> {
  places.placedFile("/etc/prometheus/alerts.yml", place);
  const file = places.placedFile("/etc/prometheus/prometheus.yml", place, (text) =>
    places.lookedUp(text),
  );
  const address = `${place.address}:9090`;
  return await startProxy(
    [
      "/usr/bin/prometheus",
      `--config.file=${file}`,
      `--storage.tsdb.path=${places.placed("/prometheus", place)}`,
      `--web.listen-address=${address}`,
    ],
    async () => (await fetch(`http://${address}/-/ready`)).status === 200,
  );
}
