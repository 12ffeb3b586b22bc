import { AggregatorRegistry, type Registry, type RegistryContentType } from "prom-client";
import { contentTypes, type MetricsFormat } from "./metrics-format.ts";

/** The gauges of which a node has the sum of those of its processes; of others it has its own. */
const summedGauges: ReadonlySet<string> = new Set([
  "hlust_calls_active",
  "hlust_live_streams",
  "db_client_connections",
  "db_client_connection_max",
  "db_client_connection_pending_requests",
]);
/** The families of one process, and those about engine nodes, which the main process is to it. */
const ownPrefixes = ["process_", "nodejs_", "hlust_engine_node_", "hlust_front_"];

/** A family as data, as prom-client returns it. */
interface FamilyData {
  readonly name: string;
  readonly type: string;
  readonly values: readonly { readonly value: number }[];
}

/** Returns the families of another process of the node that are added to those of the main one. */
export function addedFamilies(families: readonly object[]): readonly object[] {
  return families.filter(
    (family) =>
      isFamily(family) &&
      (family.type !== "gauge" || summedGauges.has(family.name)) &&
      !ownPrefixes.some((prefix) => family.name.startsWith(prefix)),
  );
}

/** Returns the families of a process that has ended which its node goes on counting. */
export async function keptFamilies(
  kept: readonly object[],
  ended: readonly object[],
): Promise<readonly object[]> {
  const counted = addedFamilies(ended).filter(
    (family) => isFamily(family) && family.type !== "gauge",
  );
  return await addUp([kept, counted], "prometheus").getMetricsAsJSON();
}

/** Returns the sums of these families in a format. */
export function addUp(
  all: readonly (readonly object[])[],
  format: MetricsFormat,
): Registry<RegistryContentType> {
  const named = all.map((families) =>
    families.map((family) => {
      // In OpenMetrics, the name of the family has no _total.
      const isShort = format === "openmetrics" && isFamily(family) && family.type === "counter";
      return isShort ? { ...family, name: family.name.replace(/_total$/, "") } : family;
    }),
  );
  const registry: Registry<RegistryContentType> = AggregatorRegistry.aggregate(named);
  registry.setContentType(contentTypes[format]);
  return registry;
}

/** Returns the value of a family without labels; 0 if there is none. */
export function valueIn(families: readonly object[], name: string): number {
  const family = families.find((each) => isFamily(each) && each.name === name);
  return family && isFamily(family) ? (family.values[0]?.value ?? 0) : 0;
}

function isFamily(family: object): family is FamilyData {
  return "name" in family && "type" in family && "values" in family;
}
