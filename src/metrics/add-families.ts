import { AggregatorRegistry, type Registry, type RegistryContentType } from "prom-client";
import { contentTypes, type MetricsFormat } from "./metrics-format.ts";

/**
 * The gauges of which a node has the sum of those of its processes. Those with a label `process`
 * have a series for each; of others a node has those of its main process.
 */
const summedGauges: ReadonlySet<string> = new Set([
  "hlust_calls_active",
  "hlust_live_streams",
  "db_client_connections",
  "db_client_connection_max",
  "db_client_connection_pending_requests",
]);
const processPrefixes = ["process_", "nodejs_"];
/** The families about engine nodes, one of which the main process is to a front process. */
const nodePrefix = "hlust_engine_node_";

/** A family as data, as prom-client returns it. */
interface FamilyData {
  readonly name: string;
  readonly type: string;
}

/** Returns the families of another process of the node that are added to those of the main one. */
export function addedFamilies(families: readonly object[]): readonly object[] {
  return families.filter((family) => {
    if (!isFamily(family)) return false;
    const { name, type } = family;
    if (type !== "gauge") return !name.startsWith(nodePrefix);
    return summedGauges.has(name) || processPrefixes.some((prefix) => name.startsWith(prefix));
  });
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

function isFamily(family: object): family is FamilyData {
  return "name" in family && "type" in family;
}
