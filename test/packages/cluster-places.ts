import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { deployFolder, type Composition } from "./composition.ts";

/** A container of a compose file, which is a process of this machine in tests. */
export interface Place {
  /** The name of its service, with a number if the service has several. */
  readonly name: string;
  /** An address of the network of the compose file. */
  readonly address: string;
  /** Where the paths of the container are on this machine, by path. */
  readonly paths: ReadonlyMap<string, string>;
}

/**
 * Where the containers of a compose file are on this machine. The first of a service is looked up
 * by the service's name.
 */
export class ClusterPlaces {
  readonly #folder: string;
  /** The network of all services, such as 172.30.80.0/24. */
  readonly subnet: string;
  readonly #places = new Map<string, readonly Place[]>();

  /** `counts` has the number of containers of a service, if it is not 1, as `up --scale` has. */
  constructor(
    composition: Composition,
    {
      folder,
      counts,
      secrets,
      imageVolumes,
    }: {
      readonly folder: string;
      readonly counts: Readonly<Record<string, number>>;
      readonly secrets: Readonly<Record<string, string>>;
      /** The volumes that an image declares. */
      readonly imageVolumes: (image: string) => readonly string[];
    },
  ) {
    this.#folder = folder;
    this.subnet = composition.networks?.["nodes"]?.ipam.config[0]?.subnet ?? "";
    const network = this.subnet.replace(/\.0\/24$/, "");
    let last = 9;
    for (const [name, service] of Object.entries(composition.services)) {
      const count = counts[name] ?? 1;
      const places = Array.from({ length: count }, (_, at): Place => {
        last += 1;
        const own = count > 1 ? `${name}${at + 1}` : name;
        const paths = new Map<string, string>();
        for (const path of imageVolumes(service.image)) paths.set(path, this.#volume(own, path));
        for (const mount of service.volumes ?? []) {
          const [source = "", target = ""] = mount.split(":");
          const isFile = source.startsWith(".");
          paths.set(target, isFile ? resolve(deployFolder, source) : this.#volume(source));
        }
        for (const secret of service.secrets ?? []) {
          const file = join(this.#volume(own, "secrets"), secret);
          const variable = composition.secrets?.[secret]?.environment ?? "";
          writeFileSync(file, secrets[variable] ?? "");
          paths.set(`/run/secrets/${secret}`, file);
        }
        return { name: own, address: `${network}.${last}`, paths };
      });
      this.#places.set(name, places);
    }
  }

  #volume(...names: readonly string[]): string {
    const path = join(this.#folder, ...names.map((name) => name.replaceAll("/", "-")));
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Returns the containers of a service. */
  of(service: string): readonly Place[] {
    const places = this.#places.get(service);
    if (!places) throw new Error(`the compose file has no service ${service}`);
    return places;
  }

  /**
   * Returns text of the compose file, or of a file that it mounts, for a process of this machine:
   * names of services and 0.0.0.0 become addresses, and paths of the container become paths of this
   * machine. Everything else stays as it is, the ports too.
   */
  placed(text: string, { address, paths }: Place): string {
    let placed = text.replaceAll("0.0.0.0", address);
    for (const [service, [first]] of this.#places) {
      if (!first) continue;
      const name = new RegExp(
        String.raw`(?<=^|[\s@,/=])${service}(?=:\d)|(?<=@)${service}(?=/)`,
        "gm",
      );
      placed = placed.replaceAll(name, first.address);
    }
    // A mount may be within another one.
    for (const [path, here] of [...paths].toSorted(([a], [b]) => b.length - a.length)) {
      placed = placed.replaceAll(
        new RegExp(String.raw`(?<=^|[\s"'=])${path}(?![\w.-])`, "gm"),
        here,
      );
    }
    return placed;
  }

  /** Returns the path of a copy of a file that the container has at `path`, for this machine. */
  placedFile(path: string, place: Place, change = (text: string): string => text): string {
    const mounted = place.paths.get(path);
    if (mounted === undefined || !statSync(mounted).isFile()) {
      throw new Error(`${place.name} has no file ${path}`);
    }
    const copy = join(this.#volume(place.name, "files"), basename(path));
    writeFileSync(copy, change(this.placed(readFileSync(mounted, "utf8"), place)));
    return copy;
  }

  /**
   * Returns a configuration of Prometheus with addresses in place of names that it would look up,
   * and with a second in place of its intervals.
   */
  lookedUp(configuration: string): string {
    const {
      global,
      scrape_configs: scrapes,
      ...more
    }: {
      readonly global: Readonly<Record<string, string>>;
      readonly scrape_configs: readonly {
        readonly dns_sd_configs: readonly { readonly names: string[]; readonly port: number }[];
      }[];
    } = parse(configuration);
    return stringify({
      ...more,
      global: Object.fromEntries(Object.keys(global).map((name) => [name, "1s"])),
      scrape_configs: scrapes.map(({ dns_sd_configs: lookups, ...scrape }) => ({
        ...scrape,
        static_configs: lookups.map(({ names, port }) => ({
          targets: names.flatMap((name) =>
            this.of(name).map(({ address }) => `${address}:${port}`),
          ),
        })),
      })),
    });
  }
}
